/*
 * forward - passes a SIGTRAP that is not ours on to the program.
 *
 * It may have been sent (by others, or a timer; what the program sends itself: self_signals.c),
 * or an instruction raised it (a breakpoint, a single step).  on_trap() runs with all signals
 * blocked, on whatever stack there is, with our flags, so the program's handler cannot be called
 * from there.  The signal is sent on, with a mark, as the substitute (signals.h), and the kernel
 * delivers it the moment on_trap() returns: with the program's mask and flags, on its alternate
 * stack; its handler may leave by siglongjmp() as ever.
 *
 * Forced signals, which an instruction raised, cannot be blocked or ignored: they kill then.
 * The agent leaves that, and the default action, to the kernel: it installs the default action
 * and sends the same signal again, so that the core shows the program's stack and not ours.
 */
#include "agent/signals/signals.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "agent/core/own_process.h"
#include "agent/core/permits.h"
#include "agent/core/arch.h"

/*
 * Marks a siginfo that is sent as the substitute, and keeps its si_code.  The kernel carries 48
 * bytes of siginfo (include/linux/signal_types.h), of which no si_code of a SIGTRAP uses the
 * last eight.  It is sent with an si_code whose other bytes the kernel leaves alone (it converts
 * a sender's user id: kernel/signal.c, has_si_pid_and_uid): a negative one, as only those may be
 * sent to a process (do_rt_sigqueueinfo), or a positive one to the thread itself, which is sent
 * however many signals the user has pending (__sigqueue_alloc).
 */
struct mark {
	u32 magic;
	s32 code;
};
#define MARK_OFFSET     40
#define MARK_TRAP       0x7472666dU
#define MARK_SUBSTITUTE 0x7374666dU /* the signal is SIGSTKFLT itself */

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

/* Whether it is sent on to the process: any thread that does not block it may take it. */
static bool is_for_the_process(const siginfo_t *info)
{
	return info->si_code == SI_USER || (info->si_code < 0 && info->si_code != SI_TKILL);
}

/* code: the si_code that it is sent with. */
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
	/* Counted before it is sent: a thread that it wakes compares the count. */
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
 * Whether self_signals.c sent it to one thread, by the kernel's siginfo.  Where the user has more
 * signals pending than allowed, that names no sender (kernel/signal.c, collect_signal).
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

/* Has the signal kill where the thread was interrupted, once the calling handler has returned. */
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

/* Whether an instruction of the thread raised it (si_code of SIGTRAP in sigaction(2)). */
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
		/* A filter may kill for sending it on: the handler runs here, with our mask. */
		action.handle(SIGTRAP, info, context);
}

void forward_on_substitute(int signal, siginfo_t *info, void *context)
{
	/* SIGSTKFLT stays one, if a process sent that. */
	signal = forward_unmark(info);
	const struct program_action action = actions_take(signal);

	if (action.is_handler)
		action.handle(signal, info, context);
	else if (!action.is_ignored)
		die_of(signal, info, context);
}
