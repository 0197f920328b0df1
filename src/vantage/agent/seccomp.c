/*
 * seccomp - a program that gives up system calls is not made to call any.
 *
 * Under a filter, or in strict mode, the handler's clock and its probing of memory could kill
 * the program.  From the moment it asks for that on, no handler of ours calls: samples stand
 * for their period, and only memory that is known to be mapped is read.  Strict mode forbids
 * the machine's counter as well (kernel/seccomp.c, seccomp_assign_mode), as PR_SET_TSC can: no
 * clock can be read then, and samples are dated by their period.
 */
#include "vantage/agent/agent.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vantage/agent/arch.h"
#include "vantage/agent/hooks.h"
#include "vantage/agent/raw_calls.h"

static void give_up_calls(bool is_strict)
{
	__atomic_store_n(&agent.may_call, false, __ATOMIC_RELAXED);
	if (is_strict)
		__atomic_store_n(&agent.may_read_counter, false, __ATOMIC_RELAXED);
}

/* Before the call: it may not come back to us otherwise than by a trap. */
static void note_prctl(long option, long argument)
{
	if (option == PR_SET_SECCOMP)
		give_up_calls(argument == SECCOMP_MODE_STRICT);
	if (option == PR_SET_TSC)
		__atomic_store_n(&agent.may_read_counter, argument == PR_TSC_ENABLE,
				 __ATOMIC_RELAXED);
}

static long result_of(long rc)
{
	if (rc >= 0 || rc < -4095)
		return rc;
	errno = (int)-rc;
	return -1;
}

AGENT_EXPORT int prctl(int option, ...)
{
	va_list list;
	long a[4];

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	note_prctl(option, a[0]);
	return (int)result_of(arch_syscall6(SYS_prctl, option, a[0], a[1], a[2], a[3], 0));
}

extern int execveat(int folder, const char *path, char *const argv[], char *const environment[],
		    int flags);

AGENT_EXPORT long syscall(long number, ...)
{
	va_list list;
	long a[6], rc;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_seccomp)
		give_up_calls(a[0] == SECCOMP_SET_MODE_STRICT);
	if (number == SYS_prctl)
		note_prctl(a[0], a[1]);
	/* An exec is an exec by any name: exec.c. */
	if (number == SYS_execve)
		return execve((const char *)a[0], (char *const *)a[1], (char *const *)a[2]);
	if (number == SYS_execveat)
		return execveat((int)a[0], (const char *)a[1], (char *const *)a[2],
				(char *const *)a[3], (int)a[4]);
	if (raw_calls_answer(number, a, &rc))
		return result_of(rc);
	return result_of(arch_syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}
