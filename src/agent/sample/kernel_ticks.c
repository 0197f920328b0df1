#include "agent/sample/kernel_ticks.h"

#include <sys/syscall.h>
#include <time.h>

#include "agent/core/own_handshake.h"
#include "agent/core/own_process.h"
#include "agent/core/own_ring.h"
#include "agent/core/permits.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/core/mechanism.h"
#include "agent/core/thread_notes.h"
#include "agent/sample/cpu_timer.h"
#include "agent/sample/clock.h"

/* A thread gets a timer if more system time than this, and this part of all, is unsampled. */
#define WORTH_NS   20000000
#define WORTH_PART 16

/* Its address marks our timers' signals. */
static const char mark;

/* The calling thread's timer. */
static __thread struct {
	int timer; /* the kernel's number */
	enum { TICK_TIMER_NONE, TICK_TIMER_ON, TICK_TIMER_REFUSED } state;
	bool is_first; /* it was set by kernel_ticks_begin() */
	u32 pauses;    /* ring_header.pauses when it was set last */
	u32 attach;    /* own_handshake.attaches then */
} own;

/*
 * Timers of threads that are older than the attach.  The ends of these are not seen, so timers
 * that are left are deleted when sampling stops.  Code that takes an entry out deletes its
 * timer.  0: free.
 */
#define OLDER_MAX 1024
static struct {
	/* Sampling has stopped: each thread deletes its timer when that expires next. */
	bool are_stopped;
	bool has_older;
	u64 older[OLDER_MAX];
} process;

static bool may_call(void)
{
	return __atomic_load_n(&permits.may_call, __ATOMIC_RELAXED);
}

/* Whether we see the thread's end: a timer that could not be deleted then would stay. */
static bool is_end_seen(void)
{
	return thread_notes.start_function != 0 || thread_notes.tid == own_process.pid;
}

/* The timer's entry among the older threads'. */
static u64 own_entry(void)
{
	return (u64)thread_notes.tid << 32 | ((u32)own.timer + 1);
}

static bool replace(u64 *place, u64 from, u64 to)
{
	return __atomic_compare_exchange_n(place, &from, to, 0, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static bool enter_older(void)
{
	__atomic_store_n(&process.has_older, true, __ATOMIC_RELAXED);
	for (u32 i = 0; i < OLDER_MAX; i++) {
		if (__atomic_load_n(&process.older[i], __ATOMIC_RELAXED) == 0 &&
		    replace(&process.older[i], 0, own_entry()))
			return true;
	}
	return false;
}

/* Whether the calling thread is to delete its timer: another one may have. */
static bool is_to_delete(void)
{
	if (is_end_seen())
		return true;
	for (u32 i = 0; i < OLDER_MAX; i++) {
		if (replace(&process.older[i], own_entry(), 0))
			return true;
	}
	return false;
}

static void delete_older(void)
{
	for (u32 i = 0; process.has_older && i < OLDER_MAX; i++) {
		const u64 entry = __atomic_exchange_n(&process.older[i], 0, __ATOMIC_ACQ_REL);

		if (entry != 0)
			cpu_timer_delete((int)((u32)entry - 1));
	}
}

static bool is_worth_it(void)
{
	u64 covered_ns;
	const u64 unsampled_ns = clock_unsampled_ns(&covered_ns);

	return unsampled_ns > WORTH_NS && unsampled_ns > covered_ns / WORTH_PART;
}

static bool timer_make(void)
{
	if (!cpu_timer_make_own(&mark, &own.timer))
		return false;
	if (is_end_seen() || enter_older())
		return true;
	cpu_timer_delete(own.timer);
	return false;
}

static u32 pauses_of(const struct ring_header *ring)
{
	return __atomic_load_n(&ring->pauses, __ATOMIC_RELAXED);
}

static bool are_unwanted(const struct ring_header *ring)
{
	return __atomic_load_n(&process.are_stopped, __ATOMIC_RELAXED) || own_ring.has_timers ||
	       (pauses_of(ring) & 1);
}

/* Whether a debugger has kept the last signal, whose handler would have armed the timer again. */
static bool is_stale(const struct ring_header *ring)
{
	return own.state == TICK_TIMER_ON && own.pauses != pauses_of(ring);
}

AGENT_START void kernel_ticks_begin(const struct ring_header *ring)
{
	if (!(own_ring.terms.flags & RING_KERNEL_TICKS) || are_unwanted(ring) || !may_call() ||
	    thread_notes.tid != own_process.pid || own_handshake.attaches > 0 ||
	    own.state != TICK_TIMER_NONE)
		return;
	own.state = timer_make() ? TICK_TIMER_ON : TICK_TIMER_REFUSED;
	if (own.state != TICK_TIMER_ON)
		return;
	own.is_first = true;
	own.pauses = pauses_of(ring);
	clock_begin_ticks_now(ring);
	cpu_timer_begin(own.timer, WORTH_NS, 0);
}

void kernel_ticks_look(const struct ring_header *ring)
{
	if (!(own_ring.terms.flags & RING_KERNEL_TICKS) || are_unwanted(ring) || !may_call())
		return;
	/* An older thread's timer was deleted when the last recorder left. */
	if (own.attach != own_handshake.attaches && !is_end_seen())
		own.state = TICK_TIMER_NONE;
	own.attach = own_handshake.attaches;
	if (own.state == TICK_TIMER_NONE && (is_end_seen() || own_handshake.attaches > 0) &&
	    is_worth_it())
		own.state = timer_make() ? TICK_TIMER_ON : TICK_TIMER_REFUSED;
	else if (!is_stale(ring))
		return;
	if (own.state != TICK_TIMER_ON)
		return;
	own.is_first = false;
	own.pauses = pauses_of(ring);
	clock_begin_ticks();
	cpu_timer_begin(own.timer, own_ring.terms.period_ns, 0);
}

bool kernel_ticks_are_of(const siginfo_t *info)
{
	return cpu_timer_is_of(info, &mark);
}

/* Deletes the thread's timer; not in a vfork child or raw fork, where it is another process's. */
static void drop(void)
{
	if (own.state != TICK_TIMER_ON || !may_call() || agent_is_of_another())
		return;
	if (is_to_delete())
		cpu_timer_delete(own.timer);
	own.state = TICK_TIMER_NONE;
	own.is_first = false;
}

bool kernel_ticks_may_sample(const struct ring_header *ring)
{
	if (are_unwanted(ring)) {
		drop();
		return false;
	}
	if (own.state != TICK_TIMER_ON || !may_call())
		return false;
	if (own.is_first && !clock_is_mostly_unsampled(ring)) {
		drop();
		return false;
	}
	own.is_first = false;
	own.pauses = pauses_of(ring);
	cpu_timer_begin(own.timer, own_ring.terms.period_ns, 0);
	return true;
}

void kernel_ticks_end_thread(void)
{
	drop();
	/* Nor may it get another one. */
	if (own.state == TICK_TIMER_NONE)
		own.state = TICK_TIMER_REFUSED;
}

/* Other threads delete their own timers, but for older threads, which may have ended. */
static void kernel_ticks_stop(void)
{
	if (agent_is_of_another())
		return;
	__atomic_store_n(&process.are_stopped, true, __ATOMIC_RELAXED);
	drop();
	delete_older();
}

static void kernel_ticks_resume(struct ring_header *ring)
{
	(void)ring;
	if (!agent_is_of_another())
		__atomic_store_n(&process.are_stopped, false, __ATOMIC_RELAXED);
}

AGENT_START bool kernel_ticks_are_on(void)
{
	return own.state == TICK_TIMER_ON;
}

/* The kernel gave the child none of its parent's timers. */
AGENT_START static void kernel_ticks_forget(void)
{
	/* Written only if necessary: a page that the child does not write is not copied. */
	if (own.state != TICK_TIMER_NONE)
		own.state = TICK_TIMER_NONE;
	if (process.are_stopped)
		process.are_stopped = false;
	for (u32 i = 0; process.has_older && i < OLDER_MAX; i++)
		process.older[i] = 0;
	if (process.has_older)
		process.has_older = false;
}

extern const struct mechanism kernel_ticks_mechanism;
const struct mechanism kernel_ticks_mechanism = {
	.stop = kernel_ticks_stop,
	.resume = kernel_ticks_resume,
	.forget = kernel_ticks_forget,
};
