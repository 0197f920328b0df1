/*
 * restart - has a system call fail with EINTR for a signal of the program's despite our trap.
 *
 * A signal whose handler was set without SA_RESTART makes a call that waits (read() from a pipe)
 * fail with EINTR; one that was set with it has the call begin anew.  The kernel decides by the
 * handler it runs first (arch/x86/kernel/signal.c, handle_signal), and where a trap of ours has
 * come as well that is always ours: a synchronous signal goes before all others
 * (kernel/signal.c, dequeue_synchronous_signal).  Our handler has SA_RESTART, so the call is
 * made to begin anew, then the program's handler runs, and the EINTR it was to cause is lost:
 * measured, one of eight alarms at 10,000 traps a second.  Without SA_RESTART it would be the
 * other way round, and calls would fail that must not.
 *
 * So the handler looks at what it has interrupted.  The kernel has a call begin anew by putting
 * the program counter back on the instruction and the call's number into its register.  If a
 * signal of the program's is pending then, and its handler has no SA_RESTART, the call is turned
 * into one that failed, as the kernel would have.
 *
 * Limits: where a filter may forbid system calls, pending signals cannot be read.  Where several
 * signals are pending whose handlers differ in SA_RESTART, the lowest decides, as it does in the
 * kernel unless one was sent to the thread and another to the process.  On aarch64 a call that
 * begins anew cannot be distinguished from one that is about to begin.
 */
#include "agent/signals/restart.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>

#include "agent/core/permits.h"
#include "agent/core/arch.h"
#include "agent/signals/kernel_action.h"
#include "agent/signals/signals.h"

/*
 * Calls that begin anew whatever handler has run (ERESTARTNOINTR in kernel/fork.c, fs/exec.c,
 * kernel/seccomp.c, kernel/ptrace.c): they never fail with EINTR.
 */
static const u16 always_restarted[] = {
#ifdef SYS_fork
	SYS_fork,  SYS_vfork,
#endif
	SYS_clone, SYS_clone3, SYS_execve, SYS_execveat, SYS_seccomp, SYS_ptrace,
};

/* So do these of futex(2) (kernel/futex/pi.c, requeue.c). */
static bool is_pi_futex(const struct arch_call *call)
{
	const u64 command = call->arguments[1] & (u64)FUTEX_CMD_MASK;

	return call->number == SYS_futex &&
	       (command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2 ||
		command == FUTEX_WAIT_REQUEUE_PI);
}

static bool may_fail(const struct arch_call *call)
{
	for (u32 i = 0; i < sizeof always_restarted / sizeof always_restarted[0]; i++) {
		if (call->number == always_restarted[i])
			return false;
	}
	return !is_pi_futex(call);
}

/* Whether the first handler that the kernel runs after ours makes a call fail with EINTR. */
static bool next_handler_interrupts(u64 waiting)
{
	struct kernel_action action;

	return kernel_action_first_handler(waiting, &action) != 0 &&
	       !(action.flags & SA_RESTART);
}

void restart_mend(ucontext_t *context)
{
	struct arch_call call;

	if (!permits.may_call || !arch_find_restarted_call(context, &call) || !may_fail(&call))
		return;
	const u64 blocked = signals_of(&context->uc_sigmask);

	/* All signals are blocked in our handler: those that have come are all pending. */
	if (next_handler_interrupts(kernel_signals_waiting(blocked | TRAP_BIT)))
		arch_fail_restarted_call(context, EINTR);
}
