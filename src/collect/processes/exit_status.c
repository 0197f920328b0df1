#include "collect/processes/exit_status.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "base/text.h"
#include "collect/processes/image.h"
#include "collect/processes/pause.h"
#include "collect/system/process_stat.h"
#include "record/writer.h"

/*
 * include/uapi/linux/pidfd.h, which Debian 12 does not have: PIDFD_GET_INFO and its first
 * version's 64 bytes.
 */
struct pidfd_info {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};
_Static_assert(sizeof(struct pidfd_info) == 64, "the kernel knows versions by their size");
#define PIDFD_GET_INFO  _IOWR(0xff, 11, struct pidfd_info)
#define PIDFD_INFO_EXIT 8 /* the process is gone, and exit_code is known */

static int status_from_pidfd(int pidfd)
{
	struct pidfd_info info = { .mask = PIDFD_INFO_EXIT };

	if (pidfd < 0 || ioctl(pidfd, PIDFD_GET_INFO, &info) < 0 ||
	    !(info.mask & PIDFD_INFO_EXIT))
		return -1;
	return info.exit_code;
}

int exit_status_of(pid_t pid, int pidfd)
{
	struct process_stat stat;

	/*
	 * Once its parent has reaped it, /proc/<pid>/stat is gone, and the pidfd has the
	 * status.
	 */
	return process_stat_read(pid, &stat) ? stat.exit_code : status_from_pidfd(pidfd);
}

static const char *alternative(bool is_command)
{
	return is_command
		       ? "to run it unsampled, with its CPU time counted: "
			 "fathom record --no-children -- sh -c 'COMMAND; exit $?'"
		       : "--no-children samples the command alone and leaves its children be";
}

void exit_status_note(struct recording_writer *writer, const struct image *image, int status,
		      bool is_command)
{
	struct text note = { 0 };

	if (image->state != IMAGE_ENTERED || (image->pause.causes & PAUSE_DEBUGGER))
		return;
	if (status < 0)
		status = exit_status_of(image->pid, image->pidfd);
	if (status < 0 || !WIFSIGNALED(status) || WTERMSIG(status) != SIGTRAP)
		return;
	text_add_printable(&note, image->name, strnlen(image->name, sizeof image->name));
	text_addf(
		&note,
		" (pid %d) was killed by SIGTRAP, the signal samples come by.  If that does "
		"not happen without fathom, it takes signals by system calls of its own, past "
		"libc, and cannot be sampled; %s",
		(int)image->pid, alternative(is_command));
	recording_writer_note(writer, text_string(&note));
	text_done(&note);
}
