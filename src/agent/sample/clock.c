/*
 * clock - the weight of a sample: the time it stands for.
 *
 * The event sends a trap each time it has counted one period of the thread's time.  A
 * user-mode-only event does so at once, so each of its samples stands for one period.  Where
 * system time is counted too, traps wait for the return to user mode, and one stands
 * for all the periods that ended in between; how many, the thread's CPU clock tells.
 *
 * Reading that clock is a system call (0.3 us), so at short periods CLOCK_MONOTONIC is asked
 * first: if about one period has gone by since the last sample, it was one.  The clock is read
 * every so often all the same, so that nothing adds up.
 *
 * The thread's clock runs on while the kernel switches to and from the thread, the event's does
 * not, and with a sampling event on it a switch takes microseconds: a thread that sleeps a
 * hundred thousand times a second would be given twice its time.  So what switches cost is
 * taken off: the recorder measures it, and raises it while it sees more time covered than its
 * events have counted.
 *
 * A weight is the number of periods of that clock that ended since the last sample, not the
 * number of traps: threads of a process hand the rest of a period on to each other at a switch
 * (kernel/events/core.c, perf_event_context_sched_out, swaps equal contexts), so one may get
 * the other's trap, and then stand for no time at all.  Where periods end is known from traps
 * that interrupt user code; without it, a call would be given the time before it as well.
 *
 * Creators of many short threads have an event that is exchanged with no other thread's
 * (collect/short_threads.h).  There each trap stands for a period at least, and the clock only
 * says how many ended in a system call: with two switches for each short thread, what these cost
 * is known too badly to weigh single samples.
 *
 * Of all threads together each trap is a period that their events have counted, whatever their
 * clocks show without the assumed cost of switches: that cost is too high for a thread that is
 * preempted.  So while samples have covered less than the traps stand for, one stands for its
 * traps at least (docs/decisions/0040).
 */
#include "agent/sample/clock.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "abi/ring.h"
#include "agent/core/agent.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/core/cpu_time.h"
#include "agent/core/memory.h"
#include "agent/core/thread_notes.h"

#define SAMPLES_PER_CLOCK_READ 64
#define NS_PER_SECOND          1000000000ULL
/* In a period of this length threads take turns, and two system calls are nothing. */
#define LONG_PERIOD_NS 500000
/*
 * A sample in user code stands for no more than these beside those of its traps.  One behind a
 * system call stands for all that ended in it, by the thread's system time, which is known to
 * some ticks.
 */
#define FEW_PERIODS 4
/* A thread's life of less is short. */
#define SHORT_LIFE_PERIODS 8
#define FEW_TICKS_NS       10000000
/* A day: no system call's time is known to be longer, nor is it added to. */
#define MAX_NS (86400 * NS_PER_SECOND)

/* The calling thread's account. */
static __thread struct {
	u32 since_clock_read;
	u64 covered_ns;       /* CPU time since sampling began that samples stand for */
	u64 boundary_ns;      /* of the thread's clock, where the last period ended */
	bool has_phase;       /* it is known where the event's periods end */
	u64 switches;         /* as the clock was last read */
	u64 waits;            /* of those, that it made itself */
	u64 system_ns;        /* and its system time */
	u64 switch_cost_ns;   /* and what a switch was taken to cost; 0: not read yet */
	u32 pauses;           /* of the ring, when the thread's account was begun */
	bool is_end_expected; /* its time is booked at its end */
	u64 tick_ns;          /* the thread's clock at the last tick; 0: there was none */
	u64 tick_due_ns;      /* of ticks behind system calls, in no sample so far */
	u64 weighed_ns;       /* that samples stand for, of what they covered */
} own;

/*
 * What the traps of all threads stand for, less what their samples and ends have covered.  The
 * event had counted a part of the first period before sampling began.
 */
static s64 traps_ahead_ns;
/* Threads besides the first that began and have not ended: each may owe a part of a period. */
static u32 other_threads;

static u64 timespec_ns(const struct timespec *time)
{
	return (u64)time->tv_sec * NS_PER_SECOND + (u64)time->tv_nsec;
}

/* The vDSO answers without a system call wherever the machine's counter can be trusted. */
static u64 clock_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return timespec_ns(&now);
}

static u64 clock_user_ns(int who)
{
	struct rusage usage;

	if (arch_syscall4(SYS_getrusage, who, (long)&usage, 0, 0) != 0)
		return 0;
	return (u64)usage.ru_utime.tv_sec * NS_PER_SECOND + (u64)usage.ru_utime.tv_usec * 1000;
}

/*
 * Switches to a thread, or to all threads there ever were; how many of them since it waited, and
 * not since others ran in its place; and their system time.
 */
static u64 clock_switches(int who, u64 *out_waits, u64 *out_system_ns)
{
	struct rusage usage;

	*out_system_ns = *out_waits = 0;
	if (arch_syscall4(SYS_getrusage, who, (long)&usage, 0, 0) != 0)
		return 0;
	*out_waits = (u64)usage.ru_nvcsw;
	*out_system_ns =
		(u64)usage.ru_stime.tv_sec * NS_PER_SECOND + (u64)usage.ru_stime.tv_usec * 1000;
	return (u64)(usage.ru_nvcsw + usage.ru_nivcsw);
}

/*
 * Where timers trigger, or do so from now on, a thread's clock says all: nothing is taken off for
 * the switches that are to come.
 */
static void clock_meet_timers(const struct ring_header *ring)
{
	if (thread_notes.is_by_timers || !__atomic_load_n(&agent.has_timers, __ATOMIC_RELAXED))
		return;
	thread_notes.is_by_timers = true;
	own.boundary_ns +=
		own.switches * __atomic_load_n(&ring->switch_cost_ns, __ATOMIC_RELAXED);
}

/* A CPU clock's figure without what switches cost an event's thread. */
static u64 without_switches(const struct ring_header *ring, u64 cpu_ns, u64 switches)
{
	const u64 cost_ns = switches * __atomic_load_n(&ring->switch_cost_ns, __ATOMIC_RELAXED);

	return cpu_ns > cost_ns ? cpu_ns - cost_ns : 0;
}

AGENT_START u64 clock_process_ns(const struct ring_header *ring)
{
	u64 waits, system_ns;

	if (agent.terms.flags & RING_CLOCK_USER)
		return clock_user_ns(RUSAGE_SELF);
	if (__atomic_load_n(&agent.has_timers, __ATOMIC_RELAXED))
		return cpu_time_ns(CLOCK_PROCESS_CPUTIME_ID);
	return without_switches(ring, cpu_time_ns(CLOCK_PROCESS_CPUTIME_ID),
				clock_switches(RUSAGE_SELF, &waits, &system_ns));
}

/*
 * How often the thread was switched to, which it also reports to the recorder: it is a cost.  Returns
 * its system time since this was asked last, as the kernel's ticks have it.
 */
static u64 clock_read_switches(struct ring_header *ring)
{
	const u64 system_before_ns = own.system_ns;
	const u64 waits_before = own.waits;
	const u64 switches = clock_switches(RUSAGE_THREAD, &own.waits, &own.system_ns);

	if (switches > own.switches && thread_notes.last_time_ns != 0) {
		__atomic_fetch_add(&ring->switches, switches - own.switches, __ATOMIC_RELAXED);
		__atomic_fetch_add(&ring->waits, own.waits - waits_before, __ATOMIC_RELAXED);
	}
	own.switches = switches;
	return own.system_ns - system_before_ns;
}

/* The thread's time since it was born, without what switches cost as far as they are known. */
static u64 clock_thread_ns(const struct ring_header *ring)
{
	if ((agent.terms.flags & RING_TIMER) && (agent.terms.flags & RING_CLOCK_USER))
		return clock_user_ns(RUSAGE_THREAD);
	if (thread_notes.is_by_timers)
		return cpu_time_ns(CLOCK_THREAD_CPUTIME_ID);
	return without_switches(ring, cpu_time_ns(CLOCK_THREAD_CPUTIME_ID), own.switches);
}

static u32 clock_pauses(const struct ring_header *ring)
{
	return __atomic_load_n(&ring->pauses, __ATOMIC_RELAXED);
}

void clock_begin_thread(void)
{
	own.pauses = clock_pauses(agent.ring);
	clock_meet_timers(agent.ring);
	clock_read_switches(agent.ring);
	own.boundary_ns = clock_thread_ns(agent.ring);
	own.covered_ns = own.weighed_ns = 0;
	own.tick_ns = own.tick_due_ns = 0;
	thread_notes.last_time_ns = clock_monotonic_ns();
	own.since_clock_read = 0;
	own.has_phase = false;
	own.switch_cost_ns = agent.ring->switch_cost_ns;
	__atomic_store_n(&traps_ahead_ns, -(s64)agent.terms.period_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&other_threads, 0, __ATOMIC_RELAXED);
}

void clock_expect_end(void)
{
	own.is_end_expected = true;
	thread_notes.attach = agent.attaches;
	__atomic_fetch_add(&other_threads, 1, __ATOMIC_RELAXED);
}

static bool is_older_thread(const struct ring_header *ring, int tid)
{
	for (u32 i = 0; i < RING_OLDER_THREADS; i++) {
		if (ring->older_tids[i] == (u32)tid)
			return true;
	}
	return false;
}

/* True if no other thread's periods end with its traps, nor its own with another's. */
static bool clock_is_unshared(const struct ring_header *ring)
{
	for (u32 i = 0; i < RING_CREATORS; i++) {
		if (__atomic_load_n(&ring->unshared_tids[i], __ATOMIC_RELAXED) ==
		    (u32)thread_notes.tid)
			return true;
	}
	return false;
}

/* From here on: this sample is the thread's first, and stands for one period. */
static void clock_begin_anew(const struct ring_header *ring, u64 now_ns)
{
	const u64 cpu_ns = clock_thread_ns(ring);

	own.boundary_ns = cpu_ns > agent.terms.period_ns ? cpu_ns - agent.terms.period_ns : 0;
	thread_notes.last_time_ns = now_ns;
	own.has_phase = false;
}

/* The first sample of a thread other than the one that said hello. */
static void clock_meet_thread(struct ring_header *ring, u64 now_ns)
{
	thread_notes.tid = (int)arch_syscall4(SYS_gettid, 0, 0, 0, 0);
	if (thread_notes.last_time_ns != 0 || !is_older_thread(ring, thread_notes.tid))
		return;
	/* What it burned before the event was opened is start-up. */
	clock_begin_anew(ring, now_ns);
}

/* What the thread burned while nothing was sampled is no sample's. */
static void clock_end_pause(struct ring_header *ring, u64 now_ns)
{
	own.pauses = clock_pauses(ring);
	own.switches = clock_switches(RUSAGE_THREAD, &own.waits, &own.system_ns);
	clock_begin_anew(ring, now_ns);
}

/* The first sample of a thread for a recorder that came while it ran. */
static void clock_meet_recorder(struct ring_header *ring, u64 now_ns)
{
	thread_notes.attach = agent.attaches;
	thread_notes.name_hash = 0;
	own.covered_ns = own.weighed_ns = 0;
	own.tick_ns = own.tick_due_ns = 0;
	own.is_end_expected = false;
	own.switch_cost_ns = ring->switch_cost_ns;
	clock_end_pause(ring, now_ns);
}

/*
 * Whether the thread is on its way back from a system call: its trap may have waited for that.
 * One that is in another's code, and cannot be read, is taken for user code.
 */
static bool clock_is_behind_call(u64 pc)
{
	return memory_probe(pc) && arch_is_behind_call(pc);
}

/* Whether so much time has gone by that the thread ran throughout, or did not. */
static bool clock_is_one_period(u64 now_ns)
{
	const u64 gone_ns = now_ns - thread_notes.last_time_ns;

	return gone_ns > agent.terms.period_ns - agent.terms.period_ns / 8 &&
	       gone_ns < agent.terms.period_ns + agent.terms.period_ns / 2;
}

static bool clock_must_read(const struct ring_header *ring, u64 now_ns)
{
	if (!agent.may_call)
		return false;
	if (thread_notes.is_by_timers || agent.terms.period_ns >= LONG_PERIOD_NS ||
	    !own.has_phase)
		return true;
	if (++own.since_clock_read >= SAMPLES_PER_CLOCK_READ)
		return true;
	return !clock_is_one_period(now_ns) || clock_is_unshared(ring);
}

/* The periods that have ended by the thread's clock since the last boundary. */
static u64 clock_periods(u64 event_ns, u64 tolerance_ns)
{
	const u64 boundary_ns = own.boundary_ns;
	const u64 due_ns = event_ns > boundary_ns ? event_ns - boundary_ns : 0;

	return (due_ns + tolerance_ns) / agent.terms.period_ns;
}

/*
 * A trap that interrupts user code comes at the very end of a period: that is where the
 * thread's periods are counted from.  Where it is far from where one was expected, it was
 * another thread's, unless there is none.
 */
static void clock_lock_phase(u64 event_ns, bool is_unshared)
{
	const u64 boundary_ns = own.boundary_ns;
	const u64 off_ns =
		event_ns > boundary_ns ? event_ns - boundary_ns : boundary_ns - event_ns;

	if (off_ns < agent.terms.period_ns / 8 || is_unshared || !own.has_phase)
		own.boundary_ns = event_ns;
	own.has_phase = true;
}

/* counted_ns: what the traps say that the events have counted; 0 at a thread's end. */
static void clock_cover(u64 ns, u64 counted_ns)
{
	const s64 more_ns = (s64)(counted_ns - ns);

	if (more_ns != 0)
		__atomic_fetch_add(&traps_ahead_ns, more_ns, __ATOMIC_RELAXED);
	own.covered_ns += ns;
	own.boundary_ns += ns;
}

/* The most that a sample may stand for: what is more, the thread burned elsewhere. */
static u64 clock_most_ns(u64 traps_ns, bool is_behind_call, u64 system_ns)
{
	const u64 most_ns = traps_ns + FEW_PERIODS * agent.terms.period_ns;

	if (!is_behind_call)
		return most_ns;
	return system_ns + (most_ns > FEW_TICKS_NS ? most_ns : FEW_TICKS_NS);
}

/* A cost that was raised takes back what it gave too much: no trap stands for that. */
static void clock_take_back(const struct ring_header *ring)
{
	const u64 cost_ns = __atomic_load_n(&ring->switch_cost_ns, __ATOMIC_RELAXED);
	const u64 before_ns = own.switch_cost_ns;

	own.switch_cost_ns = cost_ns;
	if (before_ns != 0 && cost_ns > before_ns)
		__atomic_fetch_sub(&traps_ahead_ns, (s64)((cost_ns - before_ns) * own.switches),
				   __ATOMIC_RELAXED);
}

/*
 * The time, raised to that of the traps as far as all samples together have covered less than
 * threads may owe, or if they are the thread's own.
 */
static u64 clock_with_traps(u64 ns, u64 traps_ns, bool is_unshared)
{
	const u64 owed_ns =
		agent.terms.period_ns * __atomic_load_n(&other_threads, __ATOMIC_RELAXED);
	const s64 ahead_ns = __atomic_load_n(&traps_ahead_ns, __ATOMIC_RELAXED) +
			     (s64)(traps_ns - ns - owed_ns);

	if (ns < traps_ns && is_unshared)
		return traps_ns;
	if (ns >= traps_ns || ahead_ns <= 0)
		return ns;
	return (u64)ahead_ns < traps_ns - ns ? ns + (u64)ahead_ns : traps_ns;
}

/*
 * The sample was given more than the clock shows.  A thread that is alone was due it: its clock
 * had too much taken off.  One among others may have had the trap of another, and owes it.
 */
static void clock_bound_boundary(u64 event_ns)
{
	const u64 most_ns = event_ns + (agent.has_had_threads ? agent.terms.period_ns : 0);

	if (own.boundary_ns > most_ns)
		own.boundary_ns = most_ns;
}

/* A sample behind a call that took long: the event has counted all of it, in one trap. */
static u64 clock_counted_ns(u64 ns, u64 traps_ns, bool is_behind_call)
{
	return is_behind_call && !agent.has_had_threads && ns > traps_ns ? ns : traps_ns;
}

/* All that the clock shows, whatever samples stand for. */
static u64 clock_cover_all(u64 event_ns)
{
	const u64 due_ns = event_ns > own.boundary_ns ? event_ns - own.boundary_ns : 0;

	own.boundary_ns += due_ns;
	own.covered_ns += due_ns;
	return due_ns;
}

/*
 * The weight of this sample by the thread's clock: the periods that ended since the last.
 * traps_ns: what its traps alone say.
 */
static u64 clock_settle(struct ring_header *ring, u64 pc, u64 traps_ns)
{
	const u64 period_ns = agent.terms.period_ns;

	u64 system_ns = MAX_NS;

	own.since_clock_read = 0;
	if (ring->switch_cost_ns != 0 || thread_notes.is_by_timers)
		system_ns = clock_read_switches(ring);
	clock_take_back(ring);
	const u64 event_ns = clock_thread_ns(ring);

	if (thread_notes.is_by_timers || agent.terms.flags & RING_USER_MODE_ONLY) {
		const u64 due_ns = clock_cover_all(event_ns);

		/*
		 * A user-mode event counted no system time in between: a trap is a
		 * period.
		 */
		return thread_notes.is_by_timers ? due_ns : traps_ns;
	}
	const bool is_behind_call = clock_is_behind_call(pc);
	const bool is_unshared = clock_is_unshared(ring);
	const u64 most_ns = clock_most_ns(traps_ns, is_behind_call, system_ns);
	const u64 clock_ns =
		period_ns *
		clock_periods(event_ns, is_behind_call ? period_ns / 16 : period_ns / 2);
	const u64 ns = clock_with_traps(clock_ns, traps_ns, is_unshared);

	clock_cover(ns, clock_counted_ns(clock_ns, traps_ns, is_behind_call));
	if (ns > clock_ns && !is_unshared)
		clock_bound_boundary(event_ns);
	else if (!is_behind_call || (is_unshared && own.boundary_ns > event_ns))
		clock_lock_phase(event_ns, is_unshared);
	/* The recorder sees the rest in what is covered. */
	return ns < most_ns ? ns : most_ns;
}

/* Where no clock may be read, one period after the last sample. */
static u64 clock_now_ns(void)
{
	if (__atomic_load_n(&agent.may_read_counter, __ATOMIC_RELAXED))
		return clock_monotonic_ns();
	return thread_notes.last_time_ns + agent.terms.period_ns;
}

/* Whether the thread is a new one, and whether there was a pause. */
static void clock_look_around(struct ring_header *ring, u64 now_ns)
{
	clock_meet_timers(ring);
	if (thread_notes.tid == 0 && agent.may_call)
		clock_meet_thread(ring, now_ns);
	if (thread_notes.attach != agent.attaches && agent.may_call)
		clock_meet_recorder(ring, now_ns);
	else if (own.pauses != clock_pauses(ring) && agent.may_call)
		clock_end_pause(ring, now_ns);
}

static struct sample_time clock_sample_time(u64 now_ns, u64 weight_ns)
{
	own.weighed_ns += weight_ns;
	return (struct sample_time){
		.time_ns = now_ns,
		.weight_ns = weight_ns,
		.covered_ns = own.covered_ns,
	};
}

struct sample_time clock_weigh(struct ring_header *ring, u32 overruns, u64 pc)
{
	u64 now_ns = clock_now_ns();
	u64 weight_ns = agent.terms.period_ns * (1 + (u64)overruns);

	clock_look_around(ring, now_ns);
	if (clock_must_read(ring, now_ns))
		weight_ns = clock_settle(ring, pc, weight_ns);
	else
		clock_cover(weight_ns, weight_ns);
	thread_notes.last_time_ns = now_ns;
	return clock_sample_time(now_ns, weight_ns);
}

void clock_begin_ticks(void)
{
	own.tick_ns = 0;
}

u64 clock_unsampled_ns(u64 *out_covered_ns)
{
	*out_covered_ns = own.covered_ns;
	return own.covered_ns > own.weighed_ns ? own.covered_ns - own.weighed_ns : 0;
}

/*
 * Ticks say how often a system call was at work, events how much time was none of user mode: a
 * sample stands for no more than is left of that.  What its ticks stand for beyond, a later one
 * may.
 */
struct sample_time clock_weigh_tick(struct ring_header *ring, u64 pc)
{
	const u64 now_ns = clock_now_ns();
	u64 weight_ns = 0;

	clock_look_around(ring, now_ns);
	clock_read_switches(ring);
	const u64 event_ns = clock_thread_ns(ring), before_ns = own.tick_ns;

	clock_cover_all(event_ns);
	own.tick_ns = event_ns;
	if (before_ns != 0 && event_ns > before_ns && clock_is_behind_call(pc)) {
		u64 covered_ns;
		const u64 unsampled_ns = clock_unsampled_ns(&covered_ns);

		own.tick_due_ns += event_ns - before_ns;
		weight_ns = own.tick_due_ns < unsampled_ns ? own.tick_due_ns : unsampled_ns;
		own.tick_due_ns -= weight_ns;
	}
	return clock_sample_time(now_ns, weight_ns);
}

/*
 * User-mode events' samples stand for user time, and with the user clock for nothing else: what
 * is left of it since the last one is not known.
 */
static bool clock_knows_rest(void)
{
	return !(agent.terms.flags & RING_CLOCK_USER) || thread_notes.is_by_timers ||
	       thread_notes.tid == 0;
}

/*
 * Of a long life, what is behind the last period's end: what its clock showed more than its
 * events counted until then is no time of its.  Of a short one all that is not covered, for a
 * trap that was another thread's may have moved that end.
 */
static u64 clock_covered_to_ns(u64 end_ns)
{
	return end_ns < SHORT_LIFE_PERIODS * agent.terms.period_ns && !thread_notes.is_by_timers
		       ? own.covered_ns
		       : own.boundary_ns;
}

struct sample_time clock_end_thread(struct ring_header *ring)
{
	clock_meet_timers(ring);
	const u64 end_ns = agent.terms.flags & RING_CLOCK_USER ? clock_user_ns(RUSAGE_THREAD)
							       : clock_thread_ns(ring);
	const bool is_same_account =
		own.pauses == clock_pauses(ring) && thread_notes.attach == agent.attaches;
	u64 due_ns = 0;

	if (is_same_account && clock_knows_rest() && end_ns > clock_covered_to_ns(end_ns))
		due_ns = end_ns - clock_covered_to_ns(end_ns);
	if (thread_notes.tid == 0)
		thread_notes.tid = (int)arch_syscall4(SYS_gettid, 0, 0, 0, 0);
	thread_notes.last_time_ns = clock_monotonic_ns();
	clock_cover(due_ns, 0);
	if (own.is_end_expected)
		__atomic_fetch_sub(&other_threads, 1, __ATOMIC_RELAXED);
	own.is_end_expected = false;
	return (struct sample_time){
		.time_ns = thread_notes.last_time_ns,
		.weight_ns = due_ns,
		.covered_ns = own.covered_ns,
	};
}
