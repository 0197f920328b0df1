/*
 * exec - a program that replaces itself is not killed by a trap that comes late.
 *
 * exec resets our handler, and a trap that the event, or a timer, raised while the kernel was
 * at it arrives in the new image: by default it kills.  (Measured on Linux 6.18: an event
 * that counts system time killed every third exec at 10,000 Hz; remove_on_exec does not take
 * back what is pending.)  So SIGTRAP is ignored from before the exec on, which exec
 * keeps, until the new image's agent takes it; a breakpoint still kills as it should, since the
 * kernel does not let that be ignored.
 */
#include "vantage/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vantage/agent/hooks.h"
#include "vantage/agent/signals.h"

AGENT_EXPORT int execveat(int folder, const char *path, char *const argv[],
			  char *const environment[], int flags);

/* In a vfork child the events and timers are the parent's, and so is this memory. */
static bool exec_is_ours(void)
{
	return agent.ring != NULL && agent.pid == getpid();
}

static struct signals_shown exec_begin(void)
{
	return signals_show(exec_is_ours());
}

/* The exec failed: we stay, and so does its errno. */
static int exec_failed(struct signals_shown shown, int rc)
{
	const int saved_errno = errno;

	signals_hide(&shown);
	errno = saved_errno;
	return rc;
}

static int exec_call(int folder, const char *path, char *const argv[],
		     char *const environment[], int flags)
{
	const struct signals_shown shown = exec_begin();

	return exec_failed(shown,
			   (int)syscall(SYS_execveat, folder, path, argv, environment, flags));
}

AGENT_EXPORT int execve(const char *path, char *const argv[], char *const environment[])
{
	const struct signals_shown shown = exec_begin();

	return exec_failed(shown, (int)syscall(SYS_execve, path, argv, environment));
}

AGENT_EXPORT int execveat(int folder, const char *path, char *const argv[],
			  char *const environment[], int flags)
{
	return exec_call(folder, path, argv, environment, flags);
}

AGENT_EXPORT int fexecve(int fd, char *const argv[], char *const environment[])
{
	return exec_call(fd, "", argv, environment, AT_EMPTY_PATH);
}

AGENT_EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

/* The search along PATH is libc's own. */
AGENT_EXPORT int execvpe(const char *file, char *const argv[], char *const environment[])
{
	const struct signals_shown shown = exec_begin();

	return exec_failed(shown, HOOK_NEXT(execvpe)(file, argv, environment));
}

AGENT_EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

/* The arguments of execl() and its like as an array.  Not allocated: a vfork child may call. */
struct arguments {
	char **argv;
	size_t bytes;
};

static struct arguments arguments_take(const char *first, va_list *list)
{
	va_list counting;
	size_t count = 1;

	va_copy(counting, *list);
	while (va_arg(counting, char *) != NULL)
		count++;
	va_end(counting);

	struct arguments arguments = { .bytes = (count + 1) * sizeof(char *) };
	char **argv = mmap(NULL, arguments.bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (argv == MAP_FAILED)
		return arguments;
	argv[0] = (char *)(unsigned long)first;
	for (size_t i = 1; i <= count; i++)
		argv[i] = va_arg(*list, char *);
	arguments.argv = argv;
	return arguments;
}

static int arguments_give(struct arguments arguments, int rc)
{
	const int saved_errno = errno;

	munmap(arguments.argv, arguments.bytes);
	errno = saved_errno;
	return rc;
}

AGENT_EXPORT int execl(const char *path, const char *first, ...)
{
	va_list list;

	va_start(list, first);
	struct arguments arguments = arguments_take(first, &list);

	va_end(list);
	if (arguments.argv == NULL)
		return -1;
	return arguments_give(arguments, execv(path, arguments.argv));
}

AGENT_EXPORT int execlp(const char *file, const char *first, ...)
{
	va_list list;

	va_start(list, first);
	struct arguments arguments = arguments_take(first, &list);

	va_end(list);
	if (arguments.argv == NULL)
		return -1;
	return arguments_give(arguments, execvp(file, arguments.argv));
}

AGENT_EXPORT int execle(const char *path, const char *first, ...)
{
	va_list list;

	va_start(list, first);
	struct arguments arguments = arguments_take(first, &list);
	char *const *environment = va_arg(list, char *const *);

	va_end(list);
	if (arguments.argv == NULL)
		return -1;
	return arguments_give(arguments, execve(path, arguments.argv, environment));
}
