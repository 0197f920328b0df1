/*
 * masks - interposes sigprocmask() and its like: threads that block all signals are sampled, too.
 *
 * Libraries block every signal in their worker threads (liblzma does), and a trap that is
 * blocked gives no sample.  So where the program blocks SIGTRAP the kernel blocks its
 * substitute (signals.h), and the program reads back the mask it set.
 */
#include "agent/signals/signals.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "agent/core/own_process.h"
#include "agent/core/arch.h"
#include "agent/signals/interposed.h"

/* Programs call deprecated functions all the same. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* glibc keeps these two for cancellation and setuid, and never lets them be blocked. */
#define LIBC_SIGNALS (SIGNAL_BIT(32) | SIGNAL_BIT(33))

/*
 * Whether the thread last blocked the substitute itself: the kernel's bit stands for SIGTRAP.
 * Valid while the mask is the one that was set then.  Otherwise (in a handler, after a jump out
 * of one) the substitute is taken to be blocked if SIGPWR is, another signal that programs
 * hardly block but with all others.
 */
static __thread struct {
	bool is_known;
	bool has_substitute;
	u64 kernel;
} reported;

static long mask_call(int how, const u64 *set, u64 *old)
{
	return arch_syscall4(SYS_rt_sigprocmask, how, (long)set, (long)old,
			     KERNEL_SIGSET_BYTES);
}

static u64 as_program_sees(u64 kernel)
{
	const bool is_as_reported = reported.is_known && reported.kernel == kernel;
	const bool is_likely = kernel & SIGNAL_BIT(SIGPWR);

	return signals_to_program(kernel, is_as_reported ? reported.has_substitute : is_likely);
}

static void note_reported(u64 theirs, u64 kernel)
{
	reported.kernel = kernel & ~(SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP));
	reported.has_substitute = theirs & SUBSTITUTE_BIT;
	reported.is_known = true;
}

void masks_begin(void)
{
	u64 theirs = 0;

	if (mask_call(SIG_BLOCK, NULL, &theirs) != 0 || !(theirs & (TRAP_BIT | SUBSTITUTE_BIT)))
		return;
	note_reported(theirs, signals_to_kernel(theirs));
	masks_set_kernel(signals_to_kernel(theirs));
}

u64 masks_get(u64 *out_kernel)
{
	*out_kernel = 0;
	mask_call(SIG_BLOCK, NULL, out_kernel);
	return as_program_sees(*out_kernel);
}

void masks_set_kernel(u64 kernel)
{
	mask_call(SIG_SETMASK, &kernel, NULL);
}

void masks_hold_trap(bool is_held)
{
	const u64 trap = TRAP_BIT;

	mask_call(is_held ? SIG_BLOCK : SIG_UNBLOCK, &trap, NULL);
}

static u64 changed(int how, u64 before, u64 set)
{
	if (how == SIG_BLOCK)
		return before | set;
	return how == SIG_UNBLOCK ? before & ~set : set;
}

int masks_change(int how, const u64 *set, u64 *out_old)
{
	u64 wanted = 0, before = 0;

	if (!own_process.is_trap_ours)
		return (int)-mask_call(how, set, out_old);
	if (set != NULL)
		wanted = signals_to_kernel(*set);
	/* SIGTRAP itself, too: it may really be blocked. */
	if (set != NULL && how == SIG_UNBLOCK)
		wanted |= *set & TRAP_BIT;

	/* The kernel writes to out_old first, and fails if that cannot be written. */
	u64 *kernel = out_old != NULL ? out_old : &before;
	const long rc = mask_call(how, set != NULL ? &wanted : NULL, kernel);

	if (rc != 0)
		return (int)-rc;
	before = *kernel;
	const u64 old = as_program_sees(before);

	if (set != NULL)
		note_reported(changed(how, old, *set), changed(how, before, wanted));
	*kernel = old;
	return 0;
}

/* 0 or a positive errno. */
static int change_as_libc(int how, const sigset_t *set, sigset_t *old)
{
	u64 wanted = 0;

	if (set != NULL)
		wanted = signals_of(set) & ~LIBC_SIGNALS;
	return masks_change(how, set != NULL ? &wanted : NULL, (u64 *)old);
}

static int with_errno(int error)
{
	if (error == 0)
		return 0;
	errno = error;
	return -1;
}

AGENT_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return change_as_libc(how, set, old);
}

AGENT_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return with_errno(change_as_libc(how, set, old));
}

static int change_one(int how, int signal)
{
	const u64 set = SIGNAL_BIT(signal);

	return with_errno(masks_change(how, &set, NULL));
}

static bool is_shifted(int signal)
{
	return own_process.is_trap_ours && (signal == SIGTRAP || signal == SIGNAL_SUBSTITUTE);
}

AGENT_EXPORT int sighold(int signal)
{
	if (!is_shifted(signal))
		return HOOK_NEXT(sighold)(signal);
	return change_one(SIG_BLOCK, signal);
}

AGENT_EXPORT int sigrelse(int signal)
{
	if (!is_shifted(signal))
		return HOOK_NEXT(sigrelse)(signal);
	return change_one(SIG_UNBLOCK, signal);
}

/* BSD's masks have the first 32 signals. */
static int change_as_bsd(int how, int mask)
{
	const u64 set = (u32)mask;
	u64 old = 0;

	if (with_errno(masks_change(how, &set, &old)) != 0)
		return -1;
	return (int)old;
}

AGENT_EXPORT int sigblock(int mask)
{
	return change_as_bsd(SIG_BLOCK, mask);
}

AGENT_EXPORT int sigsetmask(int mask)
{
	return change_as_bsd(SIG_SETMASK, mask);
}

AGENT_EXPORT int siggetmask(void)
{
	return change_as_bsd(SIG_BLOCK, 0);
}

AGENT_EXPORT int sigpending(sigset_t *set)
{
	const int rc = HOOK_NEXT(sigpending)(set);

	if (rc == 0 && own_process.is_trap_ours)
		signals_put(set, signals_to_program(signals_of(set), false));
	return rc;
}

/* The mask that a thread begins with. */
AGENT_EXPORT int pthread_attr_setsigmask_np(pthread_attr_t *attributes, const sigset_t *set)
{
	sigset_t kernel;

	if (set == NULL || !own_process.is_trap_ours)
		return HOOK_NEXT(pthread_attr_setsigmask_np)(attributes, set);
	kernel = signals_as_kernel(set);
	return HOOK_NEXT(pthread_attr_setsigmask_np)(attributes, &kernel);
}

AGENT_EXPORT int pthread_attr_getsigmask_np(const pthread_attr_t *attributes, sigset_t *set)
{
	const int rc = HOOK_NEXT(pthread_attr_getsigmask_np)(attributes, set);

	if (rc == 0 && own_process.is_trap_ours)
		signals_put(set, signals_to_program(signals_of(set),
						    signals_of(set) & SUBSTITUTE_BIT));
	return rc;
}
