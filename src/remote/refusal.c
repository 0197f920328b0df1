#include "remote/refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/read_at.h"
#include "remote/task.h"

/* Linux, include/linux/sched.h. */
#define PF_KTHREAD 0x00200000UL

static bool is_kernel_thread(pid_t pid)
{
	unsigned long flags = 0;
	char text[1024];
	const char *behind;

	if (task_read_text(pid, pid, "stat", text, sizeof text) < 0)
		return false;
	behind = strrchr(text, ')');
	return behind && sscanf(behind, ") %*c %*d %*d %*d %*d %*d %lu", &flags) == 1 &&
	       (flags & PF_KTHREAD);
}

/* Events may be opened on what cannot be read, and have no samples, or none with names. */
static int judge_maps(const char *command, pid_t pid, struct error *err)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 && (errno == EACCES || errno == EPERM)
		       ? refusal_explain(command, pid, -errno, err)
		       : 0;
}

int refusal_judge(const char *command, pid_t pid, struct error *err)
{
	struct task_status status;

	if (pid == getpid())
		return error_set(err, -EINVAL,
				 "process %d is this fathom itself, which cannot read itself",
				 (int)pid);
	const int rc = task_read_status(pid, pid, &status);

	if (rc == -EACCES || rc == -EPERM)
		return refusal_explain(command, pid, rc, err);
	if (rc < 0)
		return error_set(err, -ESRCH, "there is no process %d", (int)pid);
	if (status.tgid != pid)
		return error_set(
			err, -EINVAL,
			"%d is a thread of process %d: name that process, 'fathom %s %d'",
			(int)pid, (int)status.tgid, command, (int)status.tgid);
	if (task_alive(pid) == 0)
		return error_set(
			err, -ESRCH,
			"process %d (%s) has ended, and its parent has not waited for it: "
			"it has no stacks any more",
			(int)pid, status.name);
	if (is_kernel_thread(pid))
		return error_set(
			err, -EINVAL,
			"process %d (%s) is a thread of the kernel, and has no program",
			(int)pid, status.name);
	return judge_maps(command, pid, err);
}

/* Decided by the program's first bytes. */
static bool is_32_bit(pid_t pid)
{
	const uint8_t elf_32[] = { 0x7f, 'E', 'L', 'F', 1 };
	uint8_t head[sizeof elf_32];
	char path[32];

	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && read_at(fd, head, sizeof head, 0) &&
	       memcmp(head, elf_32, sizeof head) == 0;
}

int refusal_of_images(pid_t pid, struct error *err)
{
	struct task_status status = { 0 };

	if (!is_32_bit(pid) || task_read_status(pid, pid, &status) < 0)
		return refusal_explain("dump", pid, -ESRCH, err);
	return error_set(
		err, -ENOTSUP,
		"process %d (%s) is a 32-bit program, whose stacks fathom cannot read: "
		"gdb -p %d can",
		(int)pid, status.name, (int)pid);
}

/* The yama ptrace_scope: 0 to 3, or -1 where yama is absent. */
static int yama_scope(void)
{
	CLEANUP(closep)
	int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
	char digit;

	return fd >= 0 && read(fd, &digit, 1) == 1 && digit >= '0' && digit <= '3' ? digit - '0'
										   : -1;
}

static int explain_forbidden(const char *command, pid_t pid, struct error *err)
{
	struct task_status status = { 0 };
	const int yama = yama_scope();

	if (task_read_status(pid, pid, &status) == 0 && status.has_uid &&
	    status.uid != geteuid() && geteuid() != 0)
		return error_set(err, -EPERM,
				 "process %d (%s) belongs to another user: sudo fathom %s %d",
				 (int)pid, status.name, command, (int)pid);
	if (geteuid() == 0)
		return error_set(
			err, -EPERM,
			"process %d (%s) may not be read: root needs CAP_SYS_PTRACE here, "
			"which 'docker run --cap-add SYS_PTRACE' gives",
			(int)pid, status.name);
	if (yama == 3)
		return error_set(
			err, -EPERM,
			"process %d (%s) may not be read: kernel.yama.ptrace_scope is 3, "
			"which forbids it until the next boot",
			(int)pid, status.name);
	if (yama >= 1)
		return error_set(
			err, -EPERM,
			"process %d (%s) may not be read: kernel.yama.ptrace_scope is %d: "
			"sudo fathom %s %d, or sudo sysctl kernel.yama.ptrace_scope=0",
			(int)pid, status.name, yama, command, (int)pid);
	return error_set(
		err, -EPERM,
		"process %d (%s) may not be read: it has changed its user, or made itself "
		"not dumpable, or has more rights than you: sudo fathom %s %d",
		(int)pid, status.name, command, (int)pid);
}

int refusal_explain(const char *command, pid_t pid, int rc, struct error *err)
{
	if (rc == -EACCES || rc == -EPERM)
		return explain_forbidden(command, pid, err);
	if (rc == -ENOENT || rc == -ESRCH)
		return error_set(err, -ESRCH, "process %d ended while it was looked at",
				 (int)pid);
	return error_errno(err, rc, "process %d cannot be read", (int)pid);
}
