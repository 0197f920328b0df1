/*
 * forward - a SIGTRAP that is not ours goes to the program.
 *
 * It may have been sent (by others, or a timer; what the program sends itself: self_signals.c), or the thread ran
 * into it (a breakpoint instruction, a single step).  on_trap() runs with all signals blocked,
 * on whatever stack there is, with our flags: no place to call the program's handler from.
 * So it is sent on, with a mark, as the substitute (signals.h), and delivered by the kernel the
 * moment on_trap() returns: with the program's mask and flags, on its alternate stack, its
 * siglongjmp() as good as ever.
 *
 * The kernel does not let forced signals, those a thread ran into, be blocked or ignored: they
 * kill then.  That, and the default action, is done by the kernel, too: it gets the default
 * action back and the same signal again, so that the core shows the program's stack and not
 * ours.
 */
#include "agent/signals/signals.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "agent/core/own_process.h"
#include "agent/core/permits.h"
#include "agent/core/arch.h"

/*
 * What on_trap() was given, or self_signals.c, as it goes through the kernel.  The kernel carries 48 bytes of
 * siginfo (include/linux/signal_types.h), of which no code that SIGTRAP comes with uses the
 * last eight.  The code it is sent with is one whose other bytes the kernel leaves alone (not
 * as a sender's user-ID, kernel/signal.c, has_si_pid_and_uid): a negative one, as only those
 * may be sent to a process (do_rt_sigqueueinfo), or a positive one to the thread itself, which
 * is sent however many signals the user has pending (__sigqueue_alloc).
 */
struct mark {
	u32 magic;
	s32 code;
};
#define MARK_OFFSET     40
#define MARK_TRAP       0x7472666dU
#define MARK_SUBSTITUTE 0x7374666dU /* it is no SIGTRAP */

_Static_assert(MARK_OFFSET + sizeof(struct mark) == 48, "the kernel carries 48 bytes");
_Static_assert(sizeof(siginfo_t) == 128, "as the kernel has it");

static u32 forwarded;

u32 forward_count(void)
{
	return __atomic_load_n(&forwarded, __ATOMIC_RELAXED);
}

void signal_this_thread(int signal, const siginfo_t *info)
{
	const long pid = arch_syscall4(SYS_getpid, 0, 0, 0, 0);
	const long tid = arch_syscall4(SYS_gettid, 0, 0, 0, 0);

	arch_syscall4(SYS_rt_tgsigqueueinfo, pid, tid, signal, (long)info);
}

/* A signal for the process stays one: any thread that does not block it may take it. */
static bool is_for_the_process(const siginfo_t *info)
{
	return info->si_code == SI_USER || (info->si_code < 0 && info->si_code != SI_TKILL);
}

/* code: what it is sent with. */
static void put_mark(siginfo_t *info, u32 magic, int code)
{
	const struct mark mark = { .magic = magic, .code = info->si_code };

	info->si_code = code;
	__builtin_memcpy((char *)info + MARK_OFFSET, &mark, sizeof mark);
}

static void send_on(const siginfo_t *info, bool is_blocked)
{
	const bool is_to_process = is_blocked && is_for_the_process(info);
	siginfo_t carried = *info;

	put_mark(&carried, MARK_TRAP, is_to_process ? SI_SIGIO : POLL_IN);
	/* Before it is sent: a thread that is woken by it compares. */
	__atomic_fetch_add(&forwarded, 1, __ATOMIC_RELEASE);
	if (is_to_process)
		arch_syscall4(SYS_rt_sigqueueinfo, arch_syscall4(SYS_getpid, 0, 0, 0, 0),
			      SIGNAL_SUBSTITUTE, (long)&carried, 0);
	else
		signal_this_thread(SIGNAL_SUBSTITUTE, &carried);
}

long forward_send_marked(int tid, int signal, const siginfo_t *info)
{
	siginfo_t carried = *info;

	put_mark(&carried, signal == SIGTRAP ? MARK_TRAP : MARK_SUBSTITUTE, SI_SIGIO);
	return arch_syscall4(SYS_rt_tgsigqueueinfo, own_process.pid, tid, SIGNAL_SUBSTITUTE,
			     (long)&carried);
}

/*
 * By a call to one thread (self_signals.c), as the kernel says. Where more signals are pending than
 * the user may have it says that no process has sent it (kernel/signal.c, collect_signal).
 */
static bool is_sent_to_a_thread_by_us(const siginfo_t *info)
{
	if (info->si_code != SI_TKILL && info->si_code != SI_USER)
		return false;
	if (info->si_pid == 0 || info->si_code == SI_USER)
		return info->si_pid == 0;
	return info->si_pid ==
	       (permits.may_call ? arch_syscall4(SYS_getpid, 0, 0, 0, 0) : own_process.pid);
}

int forward_unmark(siginfo_t *info)
{
	struct mark mark;
	bool is_trap;

	if (info->si_signo != SIGNAL_SUBSTITUTE)
		return info->si_signo;
	__builtin_memcpy(&mark, (char *)info + MARK_OFFSET, sizeof mark);
	if (mark.magic == MARK_TRAP || mark.magic == MARK_SUBSTITUTE) {
		info->si_code = mark.code;
		__builtin_memset((char *)info + MARK_OFFSET, 0, sizeof mark);
		is_trap = mark.magic == MARK_TRAP;
	} else {
		is_trap = is_sent_to_a_thread_by_us(info);
	}
	info->si_signo = is_trap ? SIGTRAP : SIGNAL_SUBSTITUTE;
	return info->si_signo;
}

/* Dies of it where the thread was interrupted: once the calling handler has returned. */
static void die_of(int signal, const siginfo_t *info, ucontext_t *context)
{
	const u64 mask = signals_of(&context->uc_sigmask);

	if (!permits.may_call)
		/* Blocked here as all signals are, so it kills; the core shows our frames. */
		arch_breakpoint();
	signals_put(&context->uc_sigmask, mask & ~SIGNAL_BIT(signal));
	actions_default_in_kernel(signal);
	signal_this_thread(signal, info);
}

/* By an instruction of the thread's own (si_code of SIGTRAP in sigaction(2)). */
static bool is_forced(const siginfo_t *info)
{
	return info->si_code == SI_KERNEL ||
	       (info->si_code > SI_USER && info->si_code < TRAP_PERF);
}

void forward_trap(siginfo_t *info, ucontext_t *context)
{
	const struct program_action action = actions_peek(SIGTRAP);
	const bool is_blocked = (signals_of(&context->uc_sigmask) & SUBSTITUTE_BIT) &&
				!waits_are_letting_trap_in(context);

	if (is_forced(info) && (is_blocked || !action.is_handler))
		die_of(SIGTRAP, info, context);
	else if (!is_blocked && action.is_ignored)
		return;
	else if (!is_blocked && !action.is_handler)
		die_of(SIGTRAP, info, context);
	else if (permits.may_call)
		send_on(info, is_blocked);
	else if (!is_blocked)
		/* Not sent on where a filter may kill for that: it runs with our mask. */
		action.handle(SIGTRAP, info, context);
}

void forward_on_substitute(int signal, siginfo_t *info, void *context)
{
	/* Really SIGSTKFLT, if a process sent that. */
	signal = forward_unmark(info);
	const struct program_action action = actions_take(signal);

	if (action.is_handler)
		action.handle(signal, info, context);
	else if (!action.is_ignored)
		die_of(signal, info, context);
}
