/*
 * clock_thread - begins a thread's account of CPU time, begins it anew, and ends it.
 */
#include <sys/resource.h>
#include <sys/syscall.h>

#include "agent/core/own_handshake.h"
#include "agent/core/own_ring.h"
#include "agent/core/permits.h"
#include "agent/core/arch.h"
#include "agent/core/cpu_time.h"
#include "agent/core/thread_notes.h"
#include "agent/sample/clock.h"
#include "agent/sample/clock_internal.h"

/* A thread with less CPU time than this is a short one. */
#define SHORT_LIFE_PERIODS 8

__thread struct clock_account clock_own;
s64 clock_traps_ahead_ns;
u32 clock_other_threads;

/*
 * Where timers trigger samples, or do so from now on, a thread's clock is used as it is: no cost of
 * switches is subtracted any more, so the boundary moves by the cost that was.
 */
static void clock_meet_timers(const struct ring_header *ring)
{
	if (thread_notes.is_by_timers ||
	    !__atomic_load_n(&own_ring.has_timers, __ATOMIC_RELAXED))
		return;
	thread_notes.is_by_timers = true;
	clock_own.boundary_ns +=
		clock_own.switches * __atomic_load_n(&ring->switch_cost_ns, __ATOMIC_RELAXED);
}

static u32 clock_pauses(const struct ring_header *ring)
{
	return __atomic_load_n(&ring->pauses, __ATOMIC_RELAXED);
}

void clock_begin_thread(void)
{
	clock_own.pauses = clock_pauses(own_ring.header);
	clock_meet_timers(own_ring.header);
	clock_read_switches(own_ring.header);
	clock_own.boundary_ns = clock_thread_ns(own_ring.header);
	clock_own.covered_ns = clock_own.weighed_ns = 0;
	clock_own.tick_ns = clock_own.tick_due_ns = 0;
	thread_notes.last_time_ns = clock_monotonic_ns();
	clock_own.since_clock_read = 0;
	clock_own.has_phase = clock_own.is_new_rung = false;
	clock_own.switch_cost_ns = own_ring.header->switch_cost_ns;
	__atomic_store_n(&clock_traps_ahead_ns, -(s64)own_ring.terms.period_ns,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&clock_other_threads, 0, __ATOMIC_RELAXED);
}

void clock_expect_end(void)
{
	clock_own.is_end_expected = true;
	thread_notes.attach = own_handshake.attaches;
	__atomic_fetch_add(&clock_other_threads, 1, __ATOMIC_RELAXED);
}

static bool is_older_thread(const struct ring_header *ring, int tid)
{
	for (u32 i = 0; i < RING_OLDER_THREADS; i++) {
		if (ring->older_tids[i] == (u32)tid)
			return true;
	}
	return false;
}

/* Begins the account here: this sample is the thread's first, and stands for one period. */
static void clock_begin_anew(const struct ring_header *ring, u64 now_ns)
{
	const u64 cpu_ns = clock_thread_ns(ring);

	clock_own.boundary_ns = cpu_ns > clock_period_ns() ? cpu_ns - clock_period_ns() : 0;
	thread_notes.last_time_ns = now_ns;
	clock_own.has_phase = false;
}

/* One system call a thread, at its beginning or now. */
static int own_tid(void)
{
	return thread_notes.born_tid != 0 ? thread_notes.born_tid
					  : (int)arch_syscall4(SYS_gettid, 0, 0, 0, 0);
}

/* The first sample of a thread other than the one that made the handshake. */
static void clock_meet_thread(struct ring_header *ring, u64 now_ns)
{
	thread_notes.tid = own_tid();
	if (thread_notes.last_time_ns != 0 || !is_older_thread(ring, thread_notes.tid))
		return;
	/* Its CPU time before the event was opened is start-up. */
	clock_begin_anew(ring, now_ns);
}

/* After a pause: no sample stands for the thread's CPU time during it. */
static void clock_end_pause(struct ring_header *ring, u64 now_ns)
{
	clock_own.pauses = clock_pauses(ring);
	clock_own.switches =
		clock_switches(RUSAGE_THREAD, &clock_own.waits, &clock_own.system_ns);
	clock_begin_anew(ring, now_ns);
}

/* The thread's first sample for a recorder that attached while it ran. */
static void clock_meet_recorder(struct ring_header *ring, u64 now_ns)
{
	thread_notes.attach = own_handshake.attaches;
	thread_notes.name_hash = 0;
	clock_own.covered_ns = clock_own.weighed_ns = 0;
	clock_own.tick_ns = clock_own.tick_due_ns = 0;
	clock_own.is_end_expected = false;
	clock_own.switch_cost_ns = ring->switch_cost_ns;
	clock_end_pause(ring, now_ns);
}

void clock_look_around(struct ring_header *ring, u64 now_ns)
{
	clock_meet_timers(ring);
	if (thread_notes.tid == 0 && permits.may_call)
		clock_meet_thread(ring, now_ns);
	else if (thread_notes.tid == 0)
		thread_notes.tid = thread_notes.born_tid;
	if (thread_notes.attach != own_handshake.attaches && permits.may_call)
		clock_meet_recorder(ring, now_ns);
	else if (clock_own.pauses != clock_pauses(ring) && permits.may_call)
		clock_end_pause(ring, now_ns);
}

/*
 * Whether the time since the thread's last sample is known.  With the user clock, samples of events
 * stand for periods of user time, and how much there was since the last one is not known.
 */
static bool clock_knows_rest(void)
{
	return !(own_ring.terms.flags & RING_CLOCK_USER) || thread_notes.is_by_timers ||
	       thread_notes.tid == 0;
}

/*
 * How far an ending thread's time is covered.  A long-lived one's is to the last period's end: what
 * its clock showed before that beyond what its events counted is not its time.  A short one's is
 * what its samples covered, since a trap that was another thread's may have moved that end.
 */
static u64 clock_covered_to_ns(u64 end_ns)
{
	return end_ns < SHORT_LIFE_PERIODS * clock_period_ns() && !thread_notes.is_by_timers
		       ? clock_own.covered_ns
		       : clock_own.boundary_ns;
}

struct sample_time clock_end_thread(struct ring_header *ring)
{
	clock_meet_timers(ring);
	const u64 end_ns = own_ring.terms.flags & RING_CLOCK_USER ? clock_user_ns(RUSAGE_THREAD)
								  : clock_thread_ns(ring);
	const bool is_same_account = clock_own.pauses == clock_pauses(ring) &&
				     thread_notes.attach == own_handshake.attaches;
	u64 due_ns = 0;

	if (is_same_account && clock_knows_rest() && end_ns > clock_covered_to_ns(end_ns))
		due_ns = end_ns - clock_covered_to_ns(end_ns);
	if (thread_notes.tid == 0)
		thread_notes.tid = own_tid();
	thread_notes.last_time_ns = clock_monotonic_ns();
	clock_cover(due_ns, 0);
	if (clock_own.is_end_expected)
		__atomic_fetch_sub(&clock_other_threads, 1, __ATOMIC_RELAXED);
	clock_own.is_end_expected = false;
	return (struct sample_time){
		.time_ns = thread_notes.last_time_ns,
		.weight_ns = due_ns,
		.covered_ns = clock_own.covered_ns,
	};
}
