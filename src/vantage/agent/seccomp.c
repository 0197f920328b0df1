/*
 * seccomp - a program that gives up system calls is not made to call any.
 *
 * Under a filter, or in strict mode, the handler's clock and its probing of memory could kill
 * the program.  From the moment it asks for that on, no handler of ours calls: samples stand
 * for their period, and only memory that is known to be mapped is read.
 */
#include "vantage/agent/agent.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vantage/agent/arch.h"

static void give_up_calls(void)
{
	if (agent.ring != NULL)
		__atomic_store_n(&agent.may_call, false, __ATOMIC_RELAXED);
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
	if (option == PR_SET_SECCOMP)
		give_up_calls();
	return (int)result_of(arch_syscall6(SYS_prctl, option, a[0], a[1], a[2], a[3], 0));
}

AGENT_EXPORT long syscall(long number, ...)
{
	va_list list;
	long a[6];

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_seccomp || (number == SYS_prctl && a[0] == PR_SET_SECCOMP))
		give_up_calls();
	return result_of(arch_syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}
