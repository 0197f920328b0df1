#include "agent/exec/next_image.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/program.h"
#include "agent/core/arch.h"
#include "agent/core/environment.h"
#include "agent/core/images.h"

struct program_file {
	int fd;
	struct stat stat;
};

static void file_close(struct program_file *file)
{
	if (file->fd >= 0)
		arch_syscall4(SYS_close, file->fd, 0, 0, 0);
	file->fd = -1;
}

/* "/proc/self/fd/N": opens the file of a descriptor again, for reading. */
static void path_of_descriptor(int fd, char out_path[32])
{
	char digits[12];
	u32 count = 0, at;

	strcpy(out_path, "/proc/self/fd/");
	at = (u32)strlen(out_path);
	do {
		digits[count++] = (char)('0' + fd % 10);
		fd /= 10;
	} while (fd > 0);
	while (count > 0)
		out_path[at++] = digits[--count];
	out_path[at] = '\0';
}

/*
 * Calls stat(2) before it opens the file: opening a FIFO would wake its writer, and some devices
 * act on being opened.  For a path that cannot be read that call fails, where a read would crash.
 */
static enum program_kind file_open(struct program_file *file, int folder, const char *path,
				   int flags)
{
	const int open_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	char descriptor[32];

	file_close(file);
	const long rc =
		arch_syscall4(SYS_newfstatat, folder, (long)path, (long)&file->stat, flags);

	if (rc < 0)
		return rc == -ENOENT || rc == -ENOTDIR ? PROGRAM_MISSING : PROGRAM_UNREADABLE;
	if (!S_ISREG(file->stat.st_mode))
		return PROGRAM_NOT_A_PROGRAM;
	if ((flags & AT_EMPTY_PATH) && path[0] == '\0') {
		path_of_descriptor(folder, descriptor);
		path = descriptor;
	}
	file->fd = (int)arch_syscall4(SYS_openat, folder, (long)path, open_flags, 0);
	return file->fd >= 0 ? PROGRAM_ENTERABLE : PROGRAM_UNREADABLE;
}

static struct program_status file_status(const struct program_file *file)
{
	return (struct program_status){ file->stat.st_mode, file->stat.st_uid,
					file->stat.st_gid };
}

static inline enum program_kind program_open(struct program_file *file, const char *path,
					     struct program_status *out_status)
{
	const enum program_kind kind = file_open(file, AT_FDCWD, path, 0);

	*out_status = file_status(file);
	return kind;
}

static inline long program_read(struct program_file *file, void *dst, u32 len, u64 offset)
{
	return arch_syscall4(SYS_pread64, file->fd, (long)dst, len, (long)offset);
}

static inline long program_read_capabilities(struct program_file *file, void *dst, u32 len)
{
	return arch_syscall4(SYS_fgetxattr, file->fd, (long)"security.capability", (long)dst,
			     len);
}

static inline bool program_may_gain(struct program_file *file)
{
	struct statfs system;

	if (arch_syscall6(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) == 1)
		return false;
	return arch_syscall4(SYS_fstatfs, file->fd, (long)&system, 0, 0) < 0 ||
	       (system.f_flags & ST_NOSUID) == 0;
}

/* The dynamic linker's path: the program's PT_INTERP, unless the linker itself was run. */
static const char *our_loader(void)
{
	struct dl_find_object found;
	void *start = (void *)getauxval(AT_BASE);

	if (images_find_object == NULL || start == NULL ||
	    images_find_object(start, &found) != 0)
		return PROGRAM_USUAL_LOADER;
	return found.dlfo_link_map->l_name;
}

static inline bool program_is_our_loader(struct program_file *file, const char *path)
{
	const char *ours = our_loader();
	struct stat our_stat, stat = file->stat;

	if (path != NULL && strcmp(path, ours) == 0)
		return true;
	if (path != NULL &&
	    arch_syscall4(SYS_newfstatat, AT_FDCWD, (long)path, (long)&stat, 0) < 0)
		return false;
	return arch_syscall4(SYS_newfstatat, AT_FDCWD, (long)ours, (long)&our_stat, 0) == 0 &&
	       stat.st_dev == our_stat.st_dev && stat.st_ino == our_stat.st_ino;
}

static struct program_ids read_ids(void)
{
	struct program_ids ids = { 0 };
	u32 saved;

	arch_syscall4(SYS_getresuid, (long)&ids.ruid, (long)&ids.euid, (long)&saved, 0);
	arch_syscall4(SYS_getresgid, (long)&ids.rgid, (long)&ids.egid, (long)&saved, 0);
	return ids;
}

void next_image_judge(const struct next_image_path *path, struct next_image *out_image)
{
	struct program_file file = { .fd = -1 };
	struct program_question question = { .first_argument = path->first_argument };
	struct program_answer *answer = &out_image->answer;

	*out_image = (struct next_image){ .answer.kind = PROGRAM_AGENT_OUT_OF_REACH };
	if (arch_syscall4(SYS_faccessat, AT_FDCWD, (long)path->agent_path, R_OK, 0) < 0)
		return;
	answer->kind = PROGRAM_UNREADABLE;
	if (path->path != NULL)
		answer->kind = file_open(&file, path->folder, path->path, path->flags);
	if (answer->kind == PROGRAM_ENTERABLE) {
		question.ids = read_ids();
		program_judge(&file, file_status(&file), &question, answer);
		out_image->is_brief =
			environment_program_is_brief(file.stat.st_dev, file.stat.st_ino);
	}
	file_close(&file);
}
