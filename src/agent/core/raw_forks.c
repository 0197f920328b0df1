#include "agent/core/raw_forks.h"

#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "agent/core/arch.h"
#include "agent/core/interposed.h"
#include "agent/core/mechanism.h"

pid_t _Fork(void);
int clone(int (*run)(void *), void *stack, int flags, void *argument, ...);

bool raw_fork_is_made_by(long number, const long a[6])
{
#ifdef SYS_fork
	if (number == SYS_fork)
		return true;
#endif
	if (number == SYS_clone)
		return (a[0] & CLONE_VM) == 0;
	/* struct clone_args begins with flags; the kernel has read it. */
	return number == SYS_clone3 && (*(const u64 *)a[0] & CLONE_VM) == 0;
}

/* libc's fork() does not call this definition. */
AGENT_EXPORT pid_t _Fork(void)
{
	/* glibc has it from 2.34 on. */
	const pid_t pid = hook_next(&core_hooks, HOOK__Fork) != NULL
				  ? HOOK_NEXT(_Fork)()
				  : (pid_t)arch_syscall6(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);

	if (pid == 0)
		MECHANISMS_DO(abandon, ());
	return pid;
}

struct raw_fork_start {
	int (*run)(void *);
	void *argument;
};

/* In the child, which has a copy of the caller's memory. */
static int raw_fork_run(void *start)
{
	const struct raw_fork_start own = *(const struct raw_fork_start *)start;

	MECHANISMS_DO(abandon, ());
	return own.run(own.argument);
}

AGENT_EXPORT int clone(int (*run)(void *), void *stack, int flags, void *argument, ...)
{
	struct raw_fork_start start = { run, argument };
	va_list list;
	void *more[3];

	va_start(list, argument);
	for (int i = 0; i < 3; i++)
		more[i] = va_arg(list, void *);
	va_end(list);
	/* run == NULL is an error, which the kernel or libc reports. */
	if (flags & CLONE_VM || run == NULL)
		return HOOK_NEXT(clone)(run, stack, flags, argument, more[0], more[1], more[2]);
	return HOOK_NEXT(clone)(raw_fork_run, stack, flags, &start, more[0], more[1], more[2]);
}
