/*
 * masks - a thread that blocks all its signals is sampled all the same.
 *
 * Libraries block every signal in their worker threads (liblzma does), and a trap that is
 * blocked gives no sample.  So SIGTRAP stays out of the kernel's mask while we sample, and the
 * program is told the mask it set.
 */
#include "vantage/agent/agent.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#include "vantage/agent/arch.h"
#include "vantage/agent/hooks.h"

#define BIT_OF(signal) (1ULL << ((signal)-1))
/* glibc keeps these two for cancellation and setuid, and never lets them be blocked. */
#define LIBC_SIGNALS        (BIT_OF(32) | BIT_OF(33))
#define KERNEL_SIGSET_BYTES 8

static long mask_call(int how, const u64 *set, u64 *old)
{
	return arch_syscall4(SYS_rt_sigprocmask, how, (long)set, (long)old,
			     KERNEL_SIGSET_BYTES);
}

void masks_begin_thread(void)
{
	const u64 trap = BIT_OF(SIGTRAP);
	u64 before = 0;

	if (mask_call(SIG_UNBLOCK, &trap, &before) == 0 && (before & trap))
		thread_notes.is_trap_masked = true;
}

void masks_hold_trap(bool is_held)
{
	const u64 trap = BIT_OF(SIGTRAP);

	mask_call(is_held ? SIG_BLOCK : SIG_UNBLOCK, &trap, NULL);
}

static void masks_remember(int how, u64 set)
{
	const bool has_trap = set & BIT_OF(SIGTRAP);

	if (how == SIG_SETMASK)
		thread_notes.is_trap_masked = has_trap;
	else if (has_trap)
		thread_notes.is_trap_masked = how == SIG_BLOCK;
}

/* What both functions do: 0 or a positive errno. */
static int masks_change(int how, const sigset_t *set, sigset_t *old)
{
	const bool is_ours = agent.ring != NULL;
	const bool was_masked = is_ours && thread_notes.is_trap_masked;
	u64 wanted = 0, before = 0;

	if (set != NULL) {
		__builtin_memcpy(&wanted, set, sizeof wanted);
		wanted &= ~LIBC_SIGNALS;
	}
	const u64 asked = wanted;

	if (is_ours && how != SIG_UNBLOCK)
		wanted &= ~BIT_OF(SIGTRAP);
	long rc = mask_call(how, set != NULL ? &wanted : NULL, &before);

	if (rc != 0)
		return (int)-rc;
	if (is_ours && set != NULL)
		masks_remember(how, asked);
	if (was_masked)
		before |= BIT_OF(SIGTRAP);
	if (old != NULL)
		__builtin_memcpy(old, &before, sizeof before);
	return 0;
}

AGENT_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return masks_change(how, set, old);
}

AGENT_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	const int rc = masks_change(how, set, old);

	if (rc == 0)
		return 0;
	errno = rc;
	return -1;
}
