/*
 * clock - weighs samples: the CPU time that each stands for.
 *
 * The event sends a trap each time it has counted one period of the thread's time.  A
 * user-mode-only event does so at once, so each of its samples stands for one period.  Where
 * system time is counted too, traps wait for the return to user mode, and one stands for all the
 * periods that ended in between; how many, the thread's CPU clock shows.
 *
 * Reading that clock is a system call (0.3 us), so at short periods CLOCK_MONOTONIC is asked
 * first: if about one period has gone by since the last sample, the sample stands for one.  The
 * clock is read every so often all the same, so that errors do not add up.
 *
 * The thread's clock runs on while the kernel switches to and from the thread, the event's does
 * not, and with a sampling event on it a switch takes microseconds: a thread that sleeps a
 * hundred thousand times a second would be given twice its time.  So the cost of switches is
 * subtracted: the recorder measures it, and raises it while it sees more time covered than its
 * events have counted.
 *
 * A weight is the number of periods of that clock that ended since the last sample, not the
 * number of traps: threads of a process hand the rest of a period on to each other at a switch
 * (kernel/events/core.c, perf_event_context_sched_out, swaps equal contexts), so one may get the
 * other's trap, which then stands for no time at all.  Traps that interrupt user code show where
 * periods end; without that, a system call would be given the time before it as well.
 *
 * Creators of many short threads have an event that is exchanged with no other thread's
 * (collect/processes/short_threads.h).  There each trap stands for a period at least, and the
 * clock only shows how many ended in a system call: with two switches for each short thread,
 * their cost is known too badly to weigh single samples.
 *
 * For all threads together, each trap is a period that their events have counted, whatever their
 * clocks show less the assumed cost of switches: that cost is too high for a thread that is
 * preempted.  So while all samples have covered less than the traps stand for, a sample stands
 * for its traps at least (docs/decisions/0040).
 */
#include "agent/sample/clock.h"

#include "abi/ring.h"
#include "agent/core/own_process.h"
#include "agent/core/own_ring.h"
#include "agent/core/permits.h"
#include "agent/core/arch.h"
#include "agent/core/cpu_time.h"
#include "agent/core/memory.h"
#include "agent/core/thread_notes.h"
#include "agent/sample/clock_internal.h"

#define SAMPLES_PER_CLOCK_READ 64
/* In so long a period threads take turns, and two system calls are a negligible cost. */
#define LONG_PERIOD_NS 500000
/*
 * A sample in user code stands for at most FEW_PERIODS more than its traps.  One behind a system
 * call stands for all periods that ended in the call, up to the thread's system time, which is
 * known to within FEW_TICKS_NS.
 */
#define FEW_PERIODS  4
#define FEW_TICKS_NS 10000000
/* A day: the bound of a system time that was not read. */
#define MAX_NS (86400 * NS_PER_SECOND)

/* True if the thread's event is its own: no other thread gets its traps, nor it another's. */
static bool clock_is_unshared(const struct ring_header *ring)
{
	for (u32 i = 0; i < RING_CREATORS; i++) {
		if (__atomic_load_n(&ring->unshared_tids[i], __ATOMIC_RELAXED) ==
		    (u32)thread_notes.tid)
			return true;
	}
	return false;
}

/*
 * Whether the thread was returning from a system call, for which its trap may have waited.  False
 * where the code cannot be read.
 */
static bool clock_is_behind_call(u64 pc)
{
	return memory_probe(pc) && arch_is_behind_call(pc);
}

/* Whether about one period of time has gone by, so that the thread ran throughout. */
static bool clock_is_one_period(u64 now_ns)
{
	const u64 gone_ns = now_ns - thread_notes.last_time_ns;

	return gone_ns > clock_period_ns() - clock_period_ns() / 8 &&
	       gone_ns < clock_period_ns() + clock_period_ns() / 2;
}

static bool clock_must_read(const struct ring_header *ring, u64 now_ns)
{
	if (!permits.may_call)
		return false;
	if (thread_notes.is_by_timers || clock_period_ns() >= LONG_PERIOD_NS ||
	    !clock_own.has_phase || clock_own.is_new_rung)
		return true;
	if (++clock_own.since_clock_read >= SAMPLES_PER_CLOCK_READ)
		return true;
	return !clock_is_one_period(now_ns) || clock_is_unshared(ring);
}

/* The periods that have ended by the thread's clock since the last boundary. */
static u64 clock_periods(u64 event_ns, u64 tolerance_ns)
{
	const u64 boundary_ns = clock_own.boundary_ns;
	const u64 due_ns = event_ns > boundary_ns ? event_ns - boundary_ns : 0;

	return (due_ns + tolerance_ns) / clock_period_ns();
}

/*
 * A trap that interrupts user code comes at the very end of a period: the thread's periods are
 * counted from there.  A trap far from there was another thread's, unless the event is unshared.
 */
static void clock_lock_phase(u64 event_ns, bool is_unshared)
{
	const u64 boundary_ns = clock_own.boundary_ns;
	const u64 off_ns =
		event_ns > boundary_ns ? event_ns - boundary_ns : boundary_ns - event_ns;

	if (off_ns < clock_period_ns() / 8 || is_unshared || !clock_own.has_phase)
		clock_own.boundary_ns = event_ns;
	clock_own.has_phase = true;
}

/* The most that a sample may stand for: the thread spent any more time elsewhere. */
static u64 clock_most_ns(u64 traps_ns, bool is_behind_call, u64 system_ns)
{
	const u64 most_ns = traps_ns + FEW_PERIODS * clock_period_ns();

	if (!is_behind_call)
		return most_ns;
	return system_ns + (most_ns > FEW_TICKS_NS ? most_ns : FEW_TICKS_NS);
}

/*
 * When the assumed cost of a switch was raised, takes back the time that the thread's switches were
 * given too much so far: no trap stands for that.
 */
static void clock_take_back(const struct ring_header *ring)
{
	const u64 cost_ns = __atomic_load_n(&ring->switch_cost_ns, __ATOMIC_RELAXED);
	const u64 before_ns = clock_own.switch_cost_ns;

	clock_own.switch_cost_ns = cost_ns;
	if (before_ns != 0 && cost_ns > before_ns)
		__atomic_fetch_sub(&clock_traps_ahead_ns,
				   (s64)((cost_ns - before_ns) * clock_own.switches),
				   __ATOMIC_RELAXED);
}

/*
 * The time, raised to that of its traps: wholly if the thread's event is unshared, else as far
 * as all samples together have covered less than the traps stand for, without what other threads
 * may owe.
 */
static u64 clock_with_traps(u64 ns, u64 traps_ns, bool is_unshared)
{
	const u64 owed_ns =
		clock_period_ns() * __atomic_load_n(&clock_other_threads, __ATOMIC_RELAXED);
	const s64 ahead_ns = __atomic_load_n(&clock_traps_ahead_ns, __ATOMIC_RELAXED) +
			     (s64)(traps_ns - ns - owed_ns);

	if (ns < traps_ns && is_unshared)
		return traps_ns;
	if (ns >= traps_ns || ahead_ns <= 0)
		return ns;
	return (u64)ahead_ns < traps_ns - ns ? ns + (u64)ahead_ns : traps_ns;
}

/*
 * After a sample was given more than the clock shows.  To a thread that is alone that time was
 * due: too much had been subtracted from its clock.  One of several may have had the trap of
 * another thread, and owes the time: so its boundary may be ahead of the clock by a period.
 */
static void clock_bound_boundary(u64 event_ns)
{
	const u64 most_ns = event_ns + (own_process.has_had_threads ? clock_period_ns() : 0);

	if (clock_own.boundary_ns > most_ns)
		clock_own.boundary_ns = most_ns;
}

/* The time that the event has counted: of a long system call all, in one trap. */
static u64 clock_counted_ns(u64 ns, u64 traps_ns, bool is_behind_call)
{
	return is_behind_call && !own_process.has_had_threads && ns > traps_ns ? ns : traps_ns;
}

/* Covers all time that the clock shows, whatever samples stand for; returns it. */
static u64 clock_cover_all(u64 event_ns)
{
	const u64 due_ns =
		event_ns > clock_own.boundary_ns ? event_ns - clock_own.boundary_ns : 0;

	clock_own.boundary_ns += due_ns;
	clock_own.covered_ns += due_ns;
	return due_ns;
}

/*
 * The first sample of an event with another period: the event before had counted a part of its
 * period, which only the clock shows.
 */
static u64 clock_cover_change(u64 event_ns, bool is_behind_call)
{
	const u64 boundary_ns = clock_own.boundary_ns;
	const u64 due_ns = event_ns > boundary_ns ? event_ns - boundary_ns : 0;

	clock_cover(due_ns, due_ns);
	clock_own.has_phase = !is_behind_call;
	return due_ns;
}

/*
 * The weight of this sample by the thread's clock: the periods that ended since the last.
 * traps_ns: its weight by its traps alone.
 */
static u64 clock_settle(struct ring_header *ring, u64 pc, u64 traps_ns)
{
	const u64 period_ns = clock_period_ns();

	u64 system_ns = MAX_NS;

	clock_own.since_clock_read = 0;
	if (ring->switch_cost_ns != 0 || thread_notes.is_by_timers)
		system_ns = clock_read_switches(ring);
	clock_take_back(ring);
	const u64 event_ns = clock_thread_ns(ring);

	if (thread_notes.is_by_timers || own_ring.terms.flags & RING_USER_MODE_ONLY) {
		const u64 due_ns = clock_cover_all(event_ns);

		/* A user-mode event counted no system time in between: a trap is a period. */
		return thread_notes.is_by_timers ? due_ns : traps_ns;
	}
	const bool is_behind_call = clock_is_behind_call(pc);
	const bool is_unshared = clock_is_unshared(ring);
	const u64 most_ns = clock_most_ns(traps_ns, is_behind_call, system_ns);

	if (clock_own.is_new_rung) {
		const u64 due_ns = clock_cover_change(event_ns, is_behind_call);

		clock_own.is_new_rung = false;
		return due_ns < most_ns ? due_ns : most_ns;
	}
	const u64 clock_ns =
		period_ns *
		clock_periods(event_ns, is_behind_call ? period_ns / 16 : period_ns / 2);
	const u64 ns = clock_with_traps(clock_ns, traps_ns, is_unshared);

	clock_cover(ns, clock_counted_ns(clock_ns, traps_ns, is_behind_call));
	if (ns > clock_ns && !is_unshared)
		clock_bound_boundary(event_ns);
	else if (!is_behind_call || (is_unshared && clock_own.boundary_ns > event_ns))
		clock_lock_phase(event_ns, is_unshared);
	/* The recorder finds the rest in covered_ns. */
	return ns < most_ns ? ns : most_ns;
}

/* The time; where no clock may be read, one period after the last sample. */
static u64 clock_now_ns(void)
{
	if (__atomic_load_n(&permits.may_read_counter, __ATOMIC_RELAXED))
		return clock_monotonic_ns();
	return thread_notes.last_time_ns + clock_period_ns();
}

static struct sample_time clock_sample_time(u64 now_ns, u64 weight_ns)
{
	clock_own.weighed_ns += weight_ns;
	return (struct sample_time){
		.time_ns = now_ns,
		.weight_ns = weight_ns,
		.covered_ns = clock_own.covered_ns,
	};
}

void clock_set_rung(u32 rung)
{
	if (rung == clock_own.rung)
		return;
	clock_own.rung = rung;
	clock_own.is_new_rung = true;
}

struct sample_time clock_weigh(struct ring_header *ring, u32 overruns, u64 pc)
{
	u64 now_ns = clock_now_ns();
	u64 weight_ns = clock_period_ns() * (1 + (u64)overruns);

	clock_own.read_ns = 0;
	clock_look_around(ring, now_ns);
	if (clock_must_read(ring, now_ns))
		weight_ns = clock_settle(ring, pc, weight_ns);
	else
		clock_cover(weight_ns, weight_ns);
	thread_notes.last_time_ns = now_ns;
	return clock_sample_time(now_ns, weight_ns);
}

u64 clock_weighed_at_ns(void)
{
	return clock_own.read_ns;
}

void clock_begin_ticks(void)
{
	clock_own.tick_ns = 0;
}

void clock_begin_ticks_now(const struct ring_header *ring)
{
	clock_own.tick_ns = clock_thread_ns(ring);
}

bool clock_is_mostly_unsampled(const struct ring_header *ring)
{
	const u64 burned_ns = clock_thread_ns(ring) - clock_own.tick_ns;

	return clock_own.weighed_ns < burned_ns / 2;
}

u64 clock_unsampled_ns(u64 *out_covered_ns)
{
	*out_covered_ns = clock_own.covered_ns;
	return clock_own.covered_ns > clock_own.weighed_ns
		       ? clock_own.covered_ns - clock_own.weighed_ns
		       : 0;
}

/*
 * Ticks show how often a system call was executed, events how much of the covered time was not user
 * time: a sample stands for no more than what is unsampled of that.  Time of its ticks beyond it is
 * left to a later sample.
 */
struct sample_time clock_weigh_tick(struct ring_header *ring, u64 pc)
{
	const u64 now_ns = clock_now_ns();
	u64 weight_ns = 0;

	clock_own.read_ns = 0;
	clock_look_around(ring, now_ns);
	clock_read_switches(ring);
	const u64 event_ns = clock_thread_ns(ring), before_ns = clock_own.tick_ns;

	clock_cover_all(event_ns);
	clock_own.tick_ns = event_ns;
	if (before_ns != 0 && event_ns > before_ns && clock_is_behind_call(pc)) {
		u64 covered_ns;
		const u64 unsampled_ns = clock_unsampled_ns(&covered_ns);

		clock_own.tick_due_ns += event_ns - before_ns;
		weight_ns = clock_own.tick_due_ns < unsampled_ns ? clock_own.tick_due_ns
								 : unsampled_ns;
		clock_own.tick_due_ns -= weight_ns;
	}
	return clock_sample_time(now_ns, weight_ns);
}
