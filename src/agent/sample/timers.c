/*
 * timers - replaces perf events by CPU timers where those are refused or slow switches too much:
 * each thread has a timer of its own CPU clock.
 *
 * The kernel checks such timers in its tick, so they expire at most HZ times a second (250 on
 * most machines), however short their period; the overrun count and the thread's clock give each
 * sample its whole weight.  They expire while the thread runs, so no system call that sleeps is
 * interrupted.  They cost nothing at a context switch.
 *
 * A process that was begun with events changes to timers when the recorder asks for it
 * (RING_WISH_TIMERS).  A thread that sleeps would not see the request, and is to be sampled when
 * it wakes: so the first thread that has a trap arms timers for all threads that /proc lists;
 * new threads arm their own.  A thread that is being created meanwhile may get two timers: their
 * signals are merged, and each sample stands for the time since the last.
 */
#include "agent/sample/timers.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "abi/ring.h"
#include "agent/core/own_process.h"
#include "agent/core/own_ring.h"
#include "agent/core/permits.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/core/mechanism.h"
#include "agent/core/thread_key.h"
#include "agent/sample/cpu_timer.h"
#include "agent/sample/kernel_ticks.h"
#include "agent/signals/signals.h"

/* A timer's period in a pause: only its signal shows the thread that the pause is over. */
#define PAUSED_PERIOD_NS 1000000000ULL

/* kernel, include/linux/posix-timers_types.h: the CPU clock of another thread of the process. */
#define CLOCK_OF_THREAD(tid) ((clockid_t)(~(u32)(tid) << 3 | 6))

/* Its address marks our timers' signals. */
static const char mark;

static struct {
	pthread_key_t thread_end;
	bool has_thread_end;
	u32 is_taken_over; /* a thread has begun to arm timers for all */
} timers AGENT_STATE;

/* The calling thread's timer. */
static __thread struct own_timer {
	int timer; /* the kernel's number */
	bool is_there;
	bool is_slow; /* sampling is paused */
	bool is_held; /* the trap is blocked while the thread forks */
} own;

static void timer_drop(void *value)
{
	struct own_timer *timer = value;

	if (timer->is_there)
		cpu_timer_delete(timer->timer);
	timer->is_there = false;
}

static void timers_init(void)
{
	if (!timers.has_thread_end)
		timers.has_thread_end = thread_key_new(&timers.thread_end, timer_drop);
}

static void timer_begin_own(u64 period_ns)
{
	own.is_slow = period_ns == PAUSED_PERIOD_NS;
	cpu_timer_begin(own.timer, period_ns, period_ns);
}

static bool timer_make_own(void)
{
	int timer;

	if (!cpu_timer_make_own(&mark, &timer))
		return false;
	own.timer = timer;
	own.is_there = true;
	return true;
}

static void timers_arm_thread(const struct ring_header *ring)
{
	/* Not in a pause: a debugger would get the traps. */
	if (__atomic_load_n(&ring->pauses, __ATOMIC_RELAXED) & 1)
		return;
	if (!own.is_there && !timer_make_own())
		return;
	timer_begin_own(own_ring.terms.period_ns);
	/* Deletes the timer at the thread's end; without the key thread_end.c does. */
	if (timers.has_thread_end)
		pthread_setspecific(timers.thread_end, &own);
}

void timers_disarm_thread(void)
{
	timer_drop(&own);
}

bool timers_are_of(const siginfo_t *info)
{
	return cpu_timer_is_of(info, &mark);
}

bool timers_may_sample(const struct ring_header *ring, int timer)
{
	const bool is_paused = __atomic_load_n(&ring->pauses, __ATOMIC_RELAXED) & 1;

	/* Another thread made this one's timer. */
	if (!own.is_there) {
		own.timer = timer;
		own.is_there = true;
	}
	if (is_paused != own.is_slow && __atomic_load_n(&permits.may_call, __ATOMIC_RELAXED))
		timer_begin_own(is_paused ? PAUSED_PERIOD_NS : own_ring.terms.period_ns);
	return !is_paused;
}

/* The kernel gave the child none of its parent's timers. */
AGENT_START static void timers_forget(void)
{
	own.is_there = false;
	__atomic_store_n(&timers.is_taken_over, 0, __ATOMIC_RELAXED);
}

/* As the kernel writes them into getdents64()'s memory. */
struct directory_entry {
	u64 inode;
	u64 offset;
	u16 length;
	u8 type;
	char name[];
};

static int tid_of(const char *name)
{
	int tid = 0;

	for (; *name >= '0' && *name <= '9' && tid < 1 << 24; name++)
		tid = tid * 10 + (*name - '0');
	return tid;
}

/* Arms another thread's timer; true also if that thread has ended meanwhile. */
static bool arm_other(int tid)
{
	int timer;
	const u64 period_ns = own_ring.terms.period_ns;
	const long rc = cpu_timer_make(CLOCK_OF_THREAD(tid), tid, &mark, &timer);

	if (rc == 0)
		return cpu_timer_begin(timer, period_ns, period_ns) == 0;
	return arch_syscall4(SYS_tgkill, own_process.pid, tid, 0, 0) != 0;
}

/*
 * Arms the threads of one reading of the directory.  *out_saw_own: the calling thread is among
 * them, so the tids are of its PID namespace.
 */
static bool arm_listed(const char *entries, long bytes, int own_tid, bool *out_saw_own)
{
	for (long at = 0; at < bytes;) {
		const struct directory_entry *entry = (const void *)(entries + at);
		const int tid = tid_of(entry->name);

		if (tid == own_tid)
			*out_saw_own = true;
		else if (tid > 0 && !arm_other(tid))
			return false;
		at += entry->length;
	}
	return true;
}

/* Arms all threads but the calling one. */
static bool arm_others(void)
{
	/* Only one thread ever executes this. */
	static char entries[4096] __attribute__((aligned(8)));
	const int own_tid = (int)arch_syscall4(SYS_gettid, 0, 0, 0, 0);
	const int fd = (int)arch_syscall4(SYS_openat, AT_FDCWD, (long)"/proc/self/task",
					  O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	bool is_whole = true, saw_own = false;
	long bytes;

	/* In a root directory without /proc: true if there never was another thread. */
	if (fd < 0)
		return !own_process.has_had_threads;
	while (is_whole && (bytes = arch_syscall4(SYS_getdents64, fd, (long)entries,
						  sizeof entries, 0)) > 0)
		is_whole = arm_listed(entries, bytes, own_tid, &saw_own);
	arch_syscall4(SYS_close, fd, 0, 0, 0);
	return is_whole && saw_own;
}

static bool take_over(void)
{
	if (!__atomic_load_n(&permits.may_call, __ATOMIC_RELAXED) || !timer_make_own())
		return false;
	/* From here on new threads arm their own. */
	__atomic_store_n(&own_ring.has_timers, true, __ATOMIC_SEQ_CST);
	timer_begin_own(own_ring.terms.period_ns);
	return arm_others();
}

void timers_look(struct ring_header *ring)
{
	if (!(__atomic_load_n(&ring->wishes, __ATOMIC_RELAXED) & RING_WISH_TIMERS) ||
	    __atomic_exchange_n(&timers.is_taken_over, 1, __ATOMIC_RELAXED) != 0)
		return;
	/* Pairs with the acquire in the recorder's ring_view_timers(). */
	__atomic_store_n(&ring->timers, take_over() ? RING_TIMERS_ARMED : RING_TIMERS_FAILED,
			 __ATOMIC_RELEASE);
}

static void timers_begin(struct ring_header *ring, bool is_first)
{
	(void)is_first;
	if (!own_ring.has_timers)
		return;
	timers_init();
	timers_arm_thread(ring);
}

/* Other threads stop their own timers. */
static void timers_stop(void)
{
	if (own_ring.has_timers)
		timers_disarm_thread();
}

static void timers_resume(struct ring_header *ring)
{
	if (own_ring.has_timers)
		timers_arm_thread(ring);
}

/*
 * A pending signal has fork() restarted, and one that comes more often than fork() takes would
 * keep it from ever ending (async-profiler issue 97).  A perf event's trap is only sent on the
 * way back to user mode; a timer's signal is not.
 */
AGENT_START static void timers_hold(void)
{
	own.is_held = own_ring.has_timers || kernel_ticks_are_on();
	if (own.is_held)
		masks_hold_trap(true);
}

AGENT_START static void timers_let_go(void)
{
	if (own.is_held)
		masks_hold_trap(false);
	own.is_held = false;
}

static bool timers_want_thread(void)
{
	return own_ring.has_timers;
}

static void timers_begin_thread(u64 start_function)
{
	const struct ring_header *ring = own_ring.header;

	(void)start_function;
	if (ring != NULL && own_ring.has_timers)
		timers_arm_thread(ring);
}

extern const struct mechanism timers_mechanism;
const struct mechanism timers_mechanism = {
	.begin = timers_begin,
	.stop = timers_stop,
	.resume = timers_resume,
	.before_fork = timers_hold,
	.after_fork_in_parent = timers_let_go,
	.forget = timers_forget,
	.after_fork = timers_let_go,
	.wants_thread = timers_want_thread,
	.begin_thread = timers_begin_thread,
};
