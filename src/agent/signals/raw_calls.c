/*
 * raw_calls - does for signal system calls by syscall() what is done for libc's functions.
 *
 * Two tables list these calls; a set of signals is the kernel's, of eight bytes.  A pointer that
 * cannot be read is passed to the kernel, which fails as without us: Abseil tests by such a call
 * whether memory can be read.
 */
#include "agent/signals/raw_calls.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>

#include "agent/core/own_process.h"
#include "agent/core/permits.h"
#include "agent/core/arch.h"
#include "agent/signals/fault_actions.h"
#include "agent/core/memory.h"
#include "agent/signals/ignored.h"
#include "agent/signals/kernel_action.h"
#include "agent/signals/signals.h"
#include "agent/signals/stack_flags.h"

/* Calls with a set to wait with, or to wait for, and which argument that is. */
static const struct {
	long number;
	u32 argument;
} with_set[] = {
	{ SYS_rt_sigsuspend, 0 }, { SYS_ppoll, 3 },
	{ SYS_epoll_pwait, 4 },   { SYS_epoll_pwait2, 4 },
#ifdef SYS_signalfd
	{ SYS_signalfd, 1 },
#endif
	{ SYS_signalfd4, 1 },
};

/* True for NULL, too: an argument left out.  Where a filter may forbid the probe, true. */
static bool is_readable(long address, u64 bytes)
{
	return address == 0 || !permits.may_call || memory_probe_all((u64)address, bytes);
}

static long raw_mask(const long *a)
{
	u64 old = 0;
	const u64 *set = (const u64 *)a[1];

	if (a[0] < SIG_BLOCK || a[0] > SIG_SETMASK || a[3] != KERNEL_SIGSET_BYTES ||
	    !is_readable(a[1], sizeof(u64)) || !is_readable(a[2], sizeof(u64)))
		return arch_syscall4(SYS_rt_sigprocmask, a[0], a[1], a[2], a[3]);
	const int error = masks_change((int)a[0], set, &old);

	if (error == 0 && a[2] != 0)
		*(u64 *)a[2] = old;
	return -error;
}

/* rt_sigaction(2) of a signal that is neither SIGTRAP nor its substitute. */
static long raw_action_of_others(const long *a)
{
	const int old_flags = stack_flags_to_program((int)a[0], 0);
	struct kernel_action *old = (struct kernel_action *)a[2];
	struct kernel_action changed;
	u64 mask = 0;

	if (a[1] != 0) {
		changed = *(const struct kernel_action *)a[1];
		mask = changed.mask;
		changed.mask = signals_to_kernel(changed.mask);
		changed.flags = (changed.flags & ~(u64)SA_ONSTACK) |
				(u32)(stack_flags_to_kernel((int)a[0], (int)changed.flags) &
				      SA_ONSTACK);
		ignored_before((int)a[0], (sighandler_t)changed.handler);
	}
	const long rc = arch_syscall4(SYS_rt_sigaction, a[0], a[1] != 0 ? (long)&changed : 0,
				      a[2], a[3]);

	if (rc == 0 && old != NULL) {
		old->mask = actions_mask_as_noted((int)a[0], old->mask);
		old->flags |= (u32)old_flags;
	}
	if (rc == 0 && a[1] != 0) {
		actions_note_mask((int)a[0], mask);
		ignored_after((int)a[0], (sighandler_t)changed.handler);
	}
	return rc;
}

static long raw_action(const long *a)
{
	const struct kernel_action *raw = (const struct kernel_action *)a[1];
	struct kernel_action *raw_old = (struct kernel_action *)a[2];
	struct sigaction wanted = { 0 }, old;

	if (a[3] != KERNEL_SIGSET_BYTES || !is_readable(a[1], sizeof *raw) ||
	    !is_readable(a[2], sizeof *raw))
		return arch_syscall4(SYS_rt_sigaction, a[0], a[1], a[2], a[3]);
	if (a[0] != SIGTRAP && a[0] != SIGNAL_SUBSTITUTE && !fault_actions_hold((int)a[0]))
		return raw_action_of_others(a);
	if (raw != NULL) {
		wanted.sa_handler = (sighandler_t)raw->handler;
		wanted.sa_flags = (int)raw->flags;
		signals_put(&wanted.sa_mask, raw->mask);
	}
	if (sigaction((int)a[0], raw != NULL ? &wanted : NULL, &old) != 0)
		return -errno;
	if (raw_old != NULL)
		*raw_old = (struct kernel_action){ .handler = (u64)old.sa_handler,
						   .flags = (u64)(u32)old.sa_flags,
						   .restorer = (u64)old.sa_restorer,
						   .mask = signals_of(&old.sa_mask) };
	return 0;
}

/* Makes the call with its set converted for the kernel. */
static long raw_wait(long number, const long *a, u32 argument)
{
	struct wait wait = { .number = number, .first = a[0] };
	sigset_t theirs = { 0 };
	long b[6];

	__builtin_memcpy(b, a, sizeof b);
	signals_put(&theirs, *(const u64 *)a[argument]);
	b[argument] = (long)waits_begin(&wait, &theirs);
	if (argument == 0)
		wait.first = b[0];
	const long rc = arch_syscall6(number, b[0], b[1], b[2], b[3], b[4], b[5]);

	waits_end(&wait, 0);
	return rc;
}

/* The sixth argument of pselect6(2) points to this. */
struct raw_set {
	const u64 *set;
	u64 bytes;
};

static long raw_pselect(const long *a)
{
	const struct raw_set *theirs = (const struct raw_set *)a[5];
	struct wait wait = { .number = SYS_pselect6, .first = a[0] };
	sigset_t mask = { 0 };

	if (theirs == NULL || !is_readable(a[5], sizeof *theirs) || theirs->set == NULL ||
	    theirs->bytes != KERNEL_SIGSET_BYTES ||
	    !is_readable((long)theirs->set, KERNEL_SIGSET_BYTES))
		return arch_syscall6(SYS_pselect6, a[0], a[1], a[2], a[3], a[4], a[5]);
	signals_put(&mask, *theirs->set);
	const struct raw_set ours = { (const u64 *)waits_begin(&wait, &mask),
				      KERNEL_SIGSET_BYTES };
	const long rc = arch_syscall6(SYS_pselect6, a[0], a[1], a[2], a[3], a[4], (long)&ours);

	waits_end(&wait, 0);
	return rc;
}

static long raw_pending(const long *a)
{
	u64 *pending = (u64 *)a[0];
	const long rc = arch_syscall4(SYS_rt_sigpending, a[0], a[1], 0, 0);

	if (rc == 0 && a[1] == KERNEL_SIGSET_BYTES)
		*pending = signals_to_program(*pending, false);
	return rc;
}

/* As wait_for() in waits.c. */
static long raw_take(const long *a)
{
	const struct timespec at_once = { 0 };
	const u32 count = forward_count();
	siginfo_t own, *info = a[1] != 0 ? (siginfo_t *)a[1] : &own;

	if (a[0] == 0 || a[3] != KERNEL_SIGSET_BYTES || !is_readable(a[0], sizeof(u64)))
		return arch_syscall4(SYS_rt_sigtimedwait, a[0], a[1], a[2], a[3]);
	const u64 theirs = *(const u64 *)a[0], set = signals_to_kernel(theirs);
	long rc = arch_syscall4(SYS_rt_sigtimedwait, (long)&set, (long)info, a[2], a[3]);

	if (rc == -EINTR && (theirs & TRAP_BIT) && forward_count() != count) {
		rc = arch_syscall4(SYS_rt_sigtimedwait, (long)&set, (long)info, (long)&at_once,
				   a[3]);
		if (rc == -EAGAIN)
			rc = -EINTR;
	}
	return rc == SIGNAL_SUBSTITUTE ? forward_unmark(info) : rc;
}

static long raw_altstack(const long *a)
{
	const int saved_errno = errno;
	const int rc = sigaltstack((const stack_t *)a[0], (stack_t *)a[1]);
	const int error = errno;

	errno = saved_errno;
	return rc == 0 ? 0 : -error;
}

static long raw_tgkill(const long *a)
{
	return tgkill((pid_t)a[0], (pid_t)a[1], (int)a[2]) == 0 ? 0 : -errno;
}

/* tkill(2): the thread may be another process's. */
static long raw_tkill(const long *a)
{
	const int saved_errno = errno;

	if (a[0] > 0 && self_signal_is_shifted((int)a[1])) {
		if (tgkill(own_process.pid, (pid_t)a[0], (int)a[1]) == 0)
			return 0;
		errno = saved_errno;
	}
	return arch_syscall4(SYS_tkill, a[0], a[1], 0, 0);
}

/* rt_tgsigqueueinfo(2): some siginfos a thread may send to itself only. */
static long raw_queue(const long *a)
{
	const siginfo_t *info = (const siginfo_t *)a[3];
	const bool is_allowed = info != NULL && is_readable(a[3], sizeof *info) &&
				info->si_code < 0 && info->si_code != SI_TKILL;

	if (is_allowed && a[0] == own_process.pid && self_signal_is_shifted((int)a[2]))
		return forward_send_marked((int)a[1], (int)a[2], info);
	return arch_syscall4(SYS_rt_tgsigqueueinfo, a[0], a[1], a[2], a[3]);
}

/* Calls with a function of their own here. */
static const struct {
	long number;
	long (*answer)(const long *a);
} answered[] = {
	{ SYS_rt_sigprocmask, raw_mask },   { SYS_rt_sigaction, raw_action },
	{ SYS_rt_sigpending, raw_pending }, { SYS_rt_sigtimedwait, raw_take },
	{ SYS_pselect6, raw_pselect },      { SYS_tgkill, raw_tgkill },
	{ SYS_tkill, raw_tkill },           { SYS_rt_tgsigqueueinfo, raw_queue },
	{ SYS_sigaltstack, raw_altstack },
};

bool raw_calls_answer(long number, const long a[6], long *out_rc)
{
	if (!own_process.is_trap_ours)
		return false;
	for (u32 i = 0; i < sizeof answered / sizeof answered[0]; i++) {
		if (answered[i].number == number) {
			*out_rc = answered[i].answer(a);
			return true;
		}
	}
	for (u32 i = 0; i < sizeof with_set / sizeof with_set[0]; i++) {
		const u32 argument = with_set[i].argument;

		if (with_set[i].number != number || a[argument] == 0 ||
		    !is_readable(a[argument], KERNEL_SIGSET_BYTES))
			continue;
		*out_rc = raw_wait(number, a, argument);
		return true;
	}
	return false;
}
