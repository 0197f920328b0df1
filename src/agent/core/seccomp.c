/*
 * seccomp - when a program restricts its system calls, handlers of the agent stop making any.
 *
 * Under a filter, or in strict mode, the calls by which a handler reads clocks and probes memory
 * could kill the program.  From the program's request on no handler of ours makes one: samples
 * stand for their period, and only memory that is known to be mapped is read.  Strict mode
 * forbids the machine's counter as well (kernel/seccomp.c, seccomp_assign_mode), as PR_SET_TSC
 * can: no clock can be read then, and samples are dated by their period.
 *
 * Every handler makes one call at its end, rt_sigreturn.  Where a filter does not allow it, or
 * system calls are handed to the program itself (PR_SET_SYSCALL_USER_DISPATCH), no trap may come.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/core/permits.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/core/raw_forks.h"
#include "agent/core/filter.h"
#include "agent/core/hooks.h"
#include "agent/core/interposed.h"
#include "agent/core/mechanism.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59 /* since Linux 5.11 */
#endif

/* The program is about to make it impossible for handlers to return. */
static void end_traps(void)
{
	const int saved_errno = errno;

	MECHANISMS_DO(make_handshake, ());
	MECHANISMS_DO(forbid_handlers, ());
	errno = saved_errno;
}

/* Calls come to the program's handler but from where it says, which may be libc's code. */
static bool is_dispatched AGENT_STATE;

static void give_up_counter(void)
{
	if (!__atomic_exchange_n(&permits.may_read_counter, false, __ATOMIC_RELAXED))
		return;
	MECHANISMS_DO(forbid_counter, ());
}

static void give_up_calls(bool is_strict)
{
	MECHANISMS_DO(make_handshake, ());
	MECHANISMS_DO(forbid_calls, ());
	__atomic_store_n(&permits.may_call, false, __ATOMIC_RELAXED);
	if (!is_strict)
		return;
	MECHANISMS_DO(forbid_threads, ());
	give_up_counter();
}

/* No filter so far forbids the calls that end_traps() and filter_allows() make. */
static bool may_end_traps = true;

static bool filter_lets_end_traps(const struct sock_fprog *filter)
{
	return filter_allows(filter, SYS_rt_sigprocmask) &&
	       filter_allows(filter, SYS_rt_sigaction) && filter_allows(filter, SYS_getpid);
}

/*
 * Called before the filter is set: afterwards our next code to run may be a trap's handler.  A call
 * with NULL fails: libseccomp finds out by it what the kernel supports.
 */
static void note_filter(const struct sock_fprog *filter)
{
	if (filter == NULL)
		return;
	MECHANISMS_DO(make_handshake, ());
	if (may_end_traps && !filter_allows(filter, SYS_rt_sigreturn))
		end_traps();
	/* Under an earlier filter this one cannot be examined: that takes system calls. */
	if (!permits.may_call || !filter_allows(filter, SYS_mmap) ||
	    !filter_allows(filter, SYS_gettid))
		MECHANISMS_DO(forbid_threads, ());
	may_end_traps = may_end_traps && filter_lets_end_traps(filter);
	give_up_calls(false);
}

static void note_seccomp(long operation, long flags, long argument)
{
	if (operation == SECCOMP_SET_MODE_FILTER)
		note_filter((const struct sock_fprog *)argument);
	/* Neither flags nor an argument are allowed. */
	if (operation == SECCOMP_SET_MODE_STRICT && flags == 0 && argument == 0)
		give_up_calls(true);
}

AGENT_START static void note_prctl(long option, long argument, long second)
{
	if (option == PR_SET_SECCOMP && argument == SECCOMP_MODE_STRICT)
		give_up_calls(true);
	if (option == PR_SET_SECCOMP && argument == SECCOMP_MODE_FILTER)
		note_filter((const struct sock_fprog *)second);
	if (option == PR_SET_SYSCALL_USER_DISPATCH && argument != 0 && may_end_traps)
		end_traps();
	if (option == PR_SET_TSC && argument != PR_TSC_ENABLE)
		give_up_counter();
}

/* After the call, which is ours as long as none is dispatched. */
static void note_dispatch(long option, long argument, long rc)
{
	if (option == PR_SET_SYSCALL_USER_DISPATCH && argument != 0 && rc == 0)
		__atomic_store_n(&is_dispatched, true, __ATOMIC_RELAXED);
}

/* After the call: before it, reading the counter would kill the thread. */
static void note_done(long option, long argument, long rc)
{
	if (option != PR_SET_TSC || argument != PR_TSC_ENABLE || rc != 0)
		return;
	__atomic_store_n(&permits.may_read_counter, true, __ATOMIC_RELAXED);
	MECHANISMS_DO(allow_counter, ());
}

static long result_of(long rc)
{
	if (rc >= 0 || rc < -4095)
		return rc;
	errno = (int)-rc;
	return -1;
}

AGENT_START AGENT_EXPORT int prctl(int option, ...)
{
	va_list list;
	long a[4];

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	note_prctl(option, a[0], a[1]);
	if (__atomic_load_n(&is_dispatched, __ATOMIC_RELAXED))
		return HOOK_NEXT(prctl)(option, a[0], a[1], a[2], a[3]);
	const long rc = arch_syscall6(SYS_prctl, option, a[0], a[1], a[2], a[3], 0);

	note_done(option, a[0], rc);
	note_dispatch(option, a[0], rc);
	return (int)result_of(rc);
}

extern int execveat(int folder, const char *path, char *const argv[], char *const environment[],
		    int flags);

/* Whether other files may be seen after the call (sample/other_files.c: libc's functions). */
static bool changes_files(long number)
{
	return number == SYS_chroot || number == SYS_pivot_root || number == SYS_unshare ||
	       number == SYS_setns;
}

AGENT_EXPORT long syscall(long number, ...)
{
	va_list list;
	long a[6], rc;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (changes_files(number))
		MECHANISMS_DO(make_handshake, ());
	if (number == SYS_seccomp)
		note_seccomp(a[0], a[1], a[2]);
	if (number == SYS_prctl)
		note_prctl((int)a[0], a[1], a[2]);
	/* As by libc's functions: exec.c. */
	if (number == SYS_execve)
		return execve((const char *)a[0], (char *const *)a[1], (char *const *)a[2]);
	if (number == SYS_execveat)
		return execveat((int)a[0], (const char *)a[1], (char *const *)a[2],
				(char *const *)a[3], (int)a[4]);
	if (MECHANISMS_ASK(answer_call, (number, a, &rc)))
		return result_of(rc);
	if (__atomic_load_n(&is_dispatched, __ATOMIC_RELAXED))
		return HOOK_NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	rc = arch_syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (rc == 0 && raw_fork_is_made_by(number, a))
		MECHANISMS_DO(abandon, ());
	if (number == SYS_prctl) {
		note_done(a[0], a[1], rc);
		note_dispatch((int)a[0], a[1], rc);
	}
	return result_of(rc);
}
