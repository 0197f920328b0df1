/*
 * sleeps - lets poll(), nanosleep() and their like go on after SIGSTOP and SIGCONT.
 *
 * To stop a thread, the kernel has it leave its system call, and it restarts most calls when the
 * thread goes on: poll(), select(), nanosleep() and their like wait for the rest of their time
 * as if nothing had happened, and fail with EINTR only if a handler runs.  Stopping takes the
 * thread's CPU time, so a trap of ours is often due by then, and runs such a handler.
 *
 * Our handler, which is the first that the kernel runs, finds the call failed, and can repeat
 * it: by the same instruction, whose arguments are all still in their registers but for the
 * call's number.  That is why the calls below are noted (struct wait).  The kernel has written
 * the rest of the time where it reads it from (fs/select.c, poll_select_finish), or where
 * nanosleep() is to report it; only poll() counts from when it was called.
 *
 * Or our handler finds the call about to be resumed by restart_syscall(2), which goes on with
 * poll() and nanosleep() unless a handler has returned in between, as ours will.  Then it puts
 * the call's own number there.  (A handler of the program's that has run right there is not
 * noticed; nor does the kernel notice it where it restarts select() and its like.)
 *
 * A handler of the program's, which ends the call for good, may also have run and returned
 * before ours found the call failed, and nothing distinguishes the two.  So such a call is
 * repeated only if no signal that was let in has ever had a handler (ignored.h): what remains is
 * in decision 0010.  Calls that fail after a stop without us, too, such as epoll_wait()
 * (signal(7)), do with us.
 */
#include "agent/signals/sleeps.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "agent/core/permits.h"
#include "agent/core/arch.h"
#include "agent/core/cpu_time.h"
#include "agent/signals/interposed.h"
#include "agent/signals/ignored.h"
#include "agent/signals/kernel_action.h"

/* Programs call deprecated functions all the same. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define NS_PER_MS 1000000

/* aarch64 has only ppoll(2), which libc uses for both. */
#ifdef SYS_poll
#define POLL_NUMBER  SYS_poll
#define PAUSE_NUMBER SYS_pause
#else
#define POLL_NUMBER  SYS_ppoll
#define PAUSE_NUMBER SYS_ppoll
#endif

static bool is_as_it_was(const struct wait *wait, ucontext_t *context)
{
	(void)wait;
	(void)context;
	return true;
}

#ifdef SYS_poll
/* poll(2): its third argument is in milliseconds; negative: no limit. */
static bool is_poll_with_rest(const struct wait *wait, ucontext_t *context)
{
	const int limit_ms = (int)arch_call_argument(context, 2);

	if (limit_ms <= 0)
		return true;
	if (wait->begin_ns == 0)
		return false;
	const u64 gone_ms = (clock_monotonic_ns() - wait->begin_ns) / NS_PER_MS;
	const u64 rest_ms = gone_ms < (u64)limit_ms ? (u64)limit_ms - gone_ms : 0;

	arch_set_call_argument(context, 2, rest_ms);
	return true;
}
#endif

/* clock_nanosleep(2): the kernel has written the rest of the time to its fourth argument. */
static bool is_sleep_with_rest(const struct wait *wait, ucontext_t *context)
{
	const u64 rest = arch_call_argument(context, 3);

	(void)wait;
	if (arch_call_argument(context, 1) & TIMER_ABSTIME)
		return true;
	if (rest == 0)
		return false;
	arch_set_call_argument(context, 2, rest);
	return true;
}

/* Calls that the kernel restarts by itself; a futex's limit here is a point in time. */
static const struct {
	long number;
	bool (*prepare)(const struct wait *wait, ucontext_t *context);
} resumed[] = {
	{ SYS_pselect6, is_as_it_was },
	{ SYS_ppoll, is_as_it_was },
	{ SYS_rt_sigsuspend, is_as_it_was },
	{ SYS_futex, is_as_it_was },
	{ SYS_msgrcv, is_as_it_was },
	{ SYS_msgsnd, is_as_it_was },
	{ SYS_clock_nanosleep, is_sleep_with_rest },
#ifdef SYS_poll
	{ SYS_poll, is_poll_with_rest },
	{ SYS_pause, is_as_it_was },
#endif
};

/* libc's signal for setuid() in a process with threads: no program relies on its EINTR. */
#define SETXID 33

/* The kernel has, or may have, handlers of ours for these. */
#define OURS (TRAP_BIT | SUBSTITUTE_BIT | SIGNALS_OF_FAULTS)

/* Whether one has a handler in the kernel, perhaps set past us. */
static bool has_handler(u64 signals)
{
	struct kernel_action action;

	return kernel_action_first_handler(signals, &action) != 0;
}

/* False: the kernel does not restart this call, or how long it has waited is not known. */
static bool prepare(const struct wait *wait, ucontext_t *context)
{
	for (u32 i = 0; i < sizeof resumed / sizeof resumed[0]; i++) {
		if (resumed[i].number == wait->number)
			return resumed[i].prepare(wait, context);
	}
	return false;
}

void sleeps_go_on(const struct wait *wait, ucontext_t *context)
{
	if (prepare(wait, context))
		arch_exchange_call(context, wait->number);
}

void sleeps_begin_anew(const struct wait *wait, u64 blocked, ucontext_t *context)
{
	const u64 let_in = ~blocked & ~SIGNAL_BIT(SETXID);

	if ((let_in & ignored_ever_handled()) != 0 || has_handler(let_in & ~OURS))
		return;
	if (prepare(wait, context))
		arch_repeat_call(context, wait->number, wait->first);
}

AGENT_EXPORT int poll(struct pollfd *fds, nfds_t count, int limit_ms)
{
	struct wait wait = { .number = POLL_NUMBER, .first = (long)fds };

	waits_note(&wait);
	if (wait.self != NULL && limit_ms > 0 && permits.may_read_counter)
		wait.begin_ns = clock_monotonic_ns();
	return waits_end(&wait, HOOK_NEXT(poll)(fds, count, limit_ms));
}

AGENT_ALIAS(__poll, poll);

/* poll() with _FORTIFY_SOURCE: libc's checks the size, and calls libc's own poll(). */
AGENT_EXPORT int __poll_chk(struct pollfd *fds, nfds_t count, int limit_ms, size_t bytes);
AGENT_EXPORT int __poll_chk(struct pollfd *fds, nfds_t count, int limit_ms, size_t bytes)
{
	if (bytes / sizeof *fds < count)
		return HOOK_NEXT(__poll_chk)(fds, count, limit_ms, bytes);
	return poll(fds, count, limit_ms);
}

AGENT_EXPORT int select(int count, fd_set *reads, fd_set *writes, fd_set *others,
			struct timeval *timeout)
{
	struct wait wait = { .number = SYS_pselect6, .first = count };

	waits_note(&wait);
	return waits_end(&wait, HOOK_NEXT(select)(count, reads, writes, others, timeout));
}

AGENT_ALIAS(__select, select);

AGENT_EXPORT int pause(void)
{
	struct wait wait = { .number = PAUSE_NUMBER };

	waits_note(&wait);
	return waits_end(&wait, HOOK_NEXT(pause)());
}

AGENT_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
				 struct timespec *rest)
{
	struct wait wait = { .number = SYS_clock_nanosleep, .first = clock };
	struct timespec own;

	waits_note(&wait);
	return waits_end(&wait, HOOK_NEXT(clock_nanosleep)(clock, flags, time,
							   rest != NULL ? rest : &own));
}

AGENT_EXPORT int nanosleep(const struct timespec *time, struct timespec *rest)
{
	struct wait wait = { .number = SYS_clock_nanosleep, .first = CLOCK_REALTIME };
	struct timespec own;

	waits_note(&wait);
	return waits_end(&wait, HOOK_NEXT(nanosleep)(time, rest != NULL ? rest : &own));
}

AGENT_ALIAS(__nanosleep, nanosleep);

AGENT_EXPORT int usleep(useconds_t us)
{
	const struct timespec time = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	return nanosleep(&time, NULL);
}

AGENT_EXPORT unsigned int sleep(unsigned int seconds)
{
	struct wait wait = { .number = SYS_clock_nanosleep, .first = CLOCK_REALTIME };

	waits_note(&wait);
	const unsigned int rest = HOOK_NEXT(sleep)(seconds);

	waits_end(&wait, 0);
	return rest;
}

AGENT_EXPORT int thrd_sleep(const struct timespec *time, struct timespec *rest)
{
	struct wait wait = { .number = SYS_clock_nanosleep, .first = CLOCK_REALTIME };
	struct timespec own;

	waits_note(&wait);
	return waits_end(&wait, HOOK_NEXT(thrd_sleep)(time, rest != NULL ? rest : &own));
}

AGENT_EXPORT int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
	struct wait wait = { .number = SYS_futex, .first = (long)semaphore };

	waits_note(&wait);
	return waits_end(&wait, HOOK_NEXT(sem_timedwait)(semaphore, until));
}

AGENT_EXPORT int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
	struct wait wait = { .number = SYS_futex, .first = (long)semaphore };

	waits_note(&wait);
	return waits_end(&wait, HOOK_NEXT(sem_clockwait)(semaphore, clock, until));
}

AGENT_EXPORT ssize_t msgrcv(int queue, void *message, size_t bytes, long type, int flags)
{
	struct wait wait = { .number = SYS_msgrcv, .first = queue };

	waits_note(&wait);
	const ssize_t rc = HOOK_NEXT(msgrcv)(queue, message, bytes, type, flags);

	waits_end(&wait, 0);
	return rc;
}

AGENT_EXPORT int msgsnd(int queue, const void *message, size_t bytes, int flags)
{
	struct wait wait = { .number = SYS_msgsnd, .first = queue };

	waits_note(&wait);
	return waits_end(&wait, HOOK_NEXT(msgsnd)(queue, message, bytes, flags));
}
