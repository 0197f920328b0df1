#include "agent/trace/native/signal_stack.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "agent/core/arch.h"
#include "agent/trace/interposed.h"

static __thread u64 low, bytes;

/* The kernel checks the program's arguments.  A vfork child shares these variables. */
static long set(const stack_t *stack, stack_t *old)
{
	const long rc = arch_syscall4(SYS_sigaltstack, (long)stack, (long)old, 0, 0);

	if (rc == 0 && stack != NULL) {
		low = (u64)stack->ss_sp;
		bytes = stack->ss_flags & SS_DISABLE ? 0 : stack->ss_size;
	}
	return rc;
}

bool trace_signal_stack_holds(u64 address)
{
	return address - low < bytes;
}

bool trace_signal_stack_answer(long number, const long a[6], long *out_rc)
{
	if (number != SYS_sigaltstack)
		return false;
	*out_rc = set((const stack_t *)a[0], (stack_t *)a[1]);
	return true;
}

AGENT_EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
	const long rc = set(stack, old);

	if (rc == 0)
		return 0;
	errno = (int)-rc;
	return -1;
}
