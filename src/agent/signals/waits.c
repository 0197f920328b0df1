/*
 * waits - interposes calls that wait with a mask of their own (ppoll()) or for signals (sigwait()).
 *
 * In their sets SIGTRAP is replaced by its substitute (signals.h): the thread is sampled
 * meanwhile, none of our traps wakes it, and a SIGTRAP that is sent to the program does.
 * All but signalfd() are cancellation points, and stay so: they call the next definition.
 */
#include "agent/signals/signals.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>

#include "agent/core/own_process.h"
#include "agent/core/permits.h"
#include "agent/core/arch.h"
#include "agent/signals/interposed.h"
#include "agent/signals/kernel_action.h"
#include "agent/signals/sleeps.h"

/* Programs call deprecated functions all the same. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static __thread struct wait *innermost;

/*
 * A handler may have left a wait by siglongjmp(), and `innermost` as it was: then its memory is
 * used for something else, or gone.  An interrupted wait's struct is right above the stack pointer.
 */
#define WAIT_BYTES_ABOVE 1024

static const struct wait *wait_of(const ucontext_t *context)
{
	const u64 above = (u64)innermost - ARCH_SP_OF(context);

	if (innermost == NULL || above > WAIT_BYTES_ABOVE || innermost->self != innermost)
		return NULL;
	return innermost;
}

/*
 * The wait that has failed with EINTR, right behind its system call.  A moment later the result is
 * still in its register, but there is no call to go back to.
 */
static const struct wait *wait_ended_at(const ucontext_t *context)
{
	if (ARCH_RESULT_OF(context) != -EINTR || !arch_is_behind_call(ARCH_PC_OF(context)))
		return NULL;
	return wait_of(context);
}

/* The wait that the kernel is about to resume: see sleeps.c. */
static const struct wait *wait_resumed_at(const ucontext_t *context)
{
	struct arch_call call;

	if (!arch_find_restarted_call(context, &call) || call.number != SYS_restart_syscall)
		return NULL;
	return wait_of(context);
}

/*
 * Whether a handler of the program's has ended the wait, and returned, before ours began.  The
 * kernel runs ours with the mask of the wait, or with the one from before it if another handler
 * has run, and adds all signals but a few (actions.c).  These few distinguish the two masks, if
 * they were blocked before and are let in by the wait.  Else it is not known, and false.
 */
static bool has_handler_run(const struct wait *wait)
{
	u64 now = 0;

	arch_syscall4(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&now, sizeof now);
	return now & ~wait->mask & SIGNALS_OF_FAULTS;
}

bool waits_are_letting_trap_in(const ucontext_t *context)
{
	const struct wait *wait = wait_ended_at(context);

	return wait != NULL && wait->is_masked && !(wait->mask & SUBSTITUTE_BIT) &&
	       !(permits.may_call && has_handler_run(wait));
}

/*
 * Whether a signal with a handler is pending that the wait lets in, though it has ended.  An
 * ignored one must not have it repeated: a handler may have ended it already.
 */
static bool has_handlers_to_run(u64 blocked)
{
	struct kernel_action action;

	return kernel_action_first_handler(kernel_signals_waiting(blocked | TRAP_BIT),
					   &action) != 0;
}

void waits_mend(ucontext_t *context)
{
	const struct wait *wait = wait_ended_at(context);
	const struct wait *resumed = wait_resumed_at(context);
	const u64 before = signals_of(&context->uc_sigmask);

	if (!permits.may_call)
		return;
	if (resumed != NULL && !has_handlers_to_run(before))
		sleeps_go_on(resumed, context);
	if (wait == NULL)
		return;
	const u64 blocked = wait->is_masked ? wait->mask : before;

	if (!has_handlers_to_run(blocked))
		sleeps_begin_anew(wait, blocked, context);
	else if (wait->is_masked && !has_handler_run(wait))
		arch_repeat_call(context, wait->number, wait->first);
}

void waits_note(struct wait *wait)
{
	if (!own_process.is_trap_ours)
		return;
	wait->self = wait;
	wait->outer = innermost;
	innermost = wait;
}

const sigset_t *waits_begin(struct wait *wait, const sigset_t *mask)
{
	waits_note(wait);
	if (mask == NULL || !own_process.is_trap_ours)
		return mask;
	wait->kernel_set = signals_as_kernel(mask);
	wait->mask = signals_of(&wait->kernel_set);
	wait->is_masked = true;
	return &wait->kernel_set;
}

int waits_end(struct wait *wait, int result)
{
	if (wait->self == NULL)
		return result;
	wait->self = NULL;
	innermost = wait->outer;
	return result;
}

AGENT_EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		       const sigset_t *mask)
{
	struct wait wait = { .number = SYS_ppoll, .first = (long)fds };

	return waits_end(&wait,
			 HOOK_NEXT(ppoll)(fds, count, timeout, waits_begin(&wait, mask)));
}

/* ppoll() with _FORTIFY_SOURCE. */
AGENT_EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
			     const sigset_t *mask, size_t bytes);
AGENT_EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
			     const sigset_t *mask, size_t bytes)
{
	struct wait wait = { .number = SYS_ppoll, .first = (long)fds };

	return waits_end(&wait, HOOK_NEXT(__ppoll_chk)(fds, count, timeout,
						       waits_begin(&wait, mask), bytes));
}

AGENT_EXPORT int pselect(int count, fd_set *reads, fd_set *writes, fd_set *others,
			 const struct timespec *timeout, const sigset_t *mask)
{
	struct wait wait = { .number = SYS_pselect6, .first = count };

	return waits_end(&wait, HOOK_NEXT(pselect)(count, reads, writes, others, timeout,
						   waits_begin(&wait, mask)));
}

AGENT_EXPORT int epoll_pwait(int fd, struct epoll_event *events, int count, int timeout,
			     const sigset_t *mask)
{
	struct wait wait = { .number = SYS_epoll_pwait, .first = fd };

	return waits_end(&wait, HOOK_NEXT(epoll_pwait)(fd, events, count, timeout,
						       waits_begin(&wait, mask)));
}

AGENT_EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int count,
			      const struct timespec *timeout, const sigset_t *mask)
{
	struct wait wait = { .number = SYS_epoll_pwait2, .first = fd };

	return waits_end(&wait, HOOK_NEXT(epoll_pwait2)(fd, events, count, timeout,
							waits_begin(&wait, mask)));
}

AGENT_EXPORT int sigsuspend(const sigset_t *mask)
{
	struct wait wait = { .number = SYS_rt_sigsuspend, .first = (long)&wait.kernel_set };

	return waits_end(&wait, HOOK_NEXT(sigsuspend)(waits_begin(&wait, mask)));
}

AGENT_ALIAS(__sigsuspend, sigsuspend);

/* BSD's: suspends with a mask of the first 32 signals. */
static int pause_with_mask(int mask)
{
	sigset_t set = { 0 };

	signals_put(&set, (u32)mask);
	return sigsuspend(&set);
}

/* System V's: suspends with one signal less blocked. */
static int pause_for_signal(int signal)
{
	sigset_t set = { 0 };
	u64 kernel;

	if (signal < 1 || signal > SIGNAL_LAST) {
		errno = EINVAL;
		return -1;
	}
	signals_put(&set, masks_get(&kernel) & ~SIGNAL_BIT(signal));
	return sigsuspend(&set);
}

/* In C, sigpause() is System V's by another name; the symbol of that name is BSD's. */
AGENT_EXPORT int sigpause_of_bsd(int mask) __asm__("sigpause");
AGENT_EXPORT int sigpause_of_bsd(int mask)
{
	return own_process.is_trap_ours ? pause_with_mask(mask) : HOOK_NEXT(sigpause)(mask);
}

AGENT_EXPORT int __xpg_sigpause(int signal);
AGENT_EXPORT int __xpg_sigpause(int signal)
{
	return own_process.is_trap_ours ? pause_for_signal(signal)
					: HOOK_NEXT(__xpg_sigpause)(signal);
}

AGENT_EXPORT int __sigpause(int signal_or_mask, int is_signal);
AGENT_EXPORT int __sigpause(int signal_or_mask, int is_signal)
{
	if (!own_process.is_trap_ours)
		return HOOK_NEXT(__sigpause)(signal_or_mask, is_signal);
	return is_signal ? pause_for_signal(signal_or_mask) : pause_with_mask(signal_or_mask);
}

/* The set to give the kernel, in *kernel_set unless nothing has to change. */
static const sigset_t *shifted(const sigset_t *set, sigset_t *kernel_set)
{
	if (set == NULL || !own_process.is_trap_ours)
		return set;
	*kernel_set = signals_as_kernel(set);
	return kernel_set;
}

/*
 * Waits for a signal of the set; returns its number for the program, or -1.  A SIGTRAP that comes
 * meanwhile interrupts the wait and is sent on as the substitute, which can then be taken.
 */
static int wait_for(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	const struct timespec at_once = { 0 };
	const bool has_trap = signals_of(set) & TRAP_BIT;
	const u32 count = forward_count();
	sigset_t kernel_set;
	int signal = HOOK_NEXT(sigtimedwait)(shifted(set, &kernel_set), info, timeout);

	if (signal < 0 && errno == EINTR && has_trap && forward_count() != count) {
		signal = HOOK_NEXT(sigtimedwait)(shifted(set, &kernel_set), info, &at_once);
		if (signal < 0 && errno == EAGAIN)
			errno = EINTR;
	}
	if (signal != SIGNAL_SUBSTITUTE)
		return signal;
	/* libc reports SI_TKILL as SI_USER (sigtimedwait.c), in the substitute's siginfo, too. */
	if (info->si_code == SI_USER)
		info->si_code = SI_TKILL;
	signal = forward_unmark(info);
	if (info->si_code == SI_TKILL)
		info->si_code = SI_USER;
	return signal;
}

AGENT_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info,
			      const struct timespec *timeout)
{
	siginfo_t own;

	if (!own_process.is_trap_ours)
		return HOOK_NEXT(sigtimedwait)(set, info, timeout);
	return wait_for(set, info != NULL ? info : &own, timeout);
}

AGENT_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	siginfo_t own;

	if (!own_process.is_trap_ours)
		return HOOK_NEXT(sigwaitinfo)(set, info);
	return wait_for(set, info != NULL ? info : &own, NULL);
}

AGENT_EXPORT int sigwait(const sigset_t *set, int *out_signal)
{
	siginfo_t info;
	int signal;

	if (!own_process.is_trap_ours)
		return HOOK_NEXT(sigwait)(set, out_signal);
	do {
		signal = wait_for(set, &info, NULL);
	} while (signal < 0 && errno == EINTR);
	if (signal < 0)
		return errno;
	*out_signal = signal;
	return 0;
}

/* A SIGTRAP of the program's makes it readable; what is read has the substitute's number. */
AGENT_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t kernel_set;

	return HOOK_NEXT(signalfd)(fd, shifted(set, &kernel_set), flags);
}
