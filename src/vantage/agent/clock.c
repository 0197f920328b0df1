/*
 * clock - the weight of a sample: the time it stands for.
 *
 * The event sends a trap each time it has counted one period of the thread's time.  A
 * user-mode-only event does so at once, so each of its samples stands for one period.  Where
 * system time is counted too, traps wait for the return to user mode, and one stands
 * for all the periods that ended in between; how many, the thread's CPU clock tells.
 *
 * Reading that clock is a system call (0.4 us), so CLOCK_MONOTONIC is asked first: a thread
 * cannot have burned more CPU time than has gone by, and if that is less than one and a half
 * periods, it was one.
 *
 * The thread's clock runs on while the kernel switches to and from the thread, the event's does
 * not, and with a sampling event on it a switch takes microseconds: a thread that
 * sleeps a hundred thousand times a second would be given twice its time.  So what switches cost
 * on this machine, which the recorder measures, is taken off; and since that is an
 * estimate, weights are whole periods, as the event counts them, and the estimate may not fall
 * behind what was given by more than one.
 */
#include "vantage/agent/agent.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "vantage/agent/arch.h"

#define SAMPLES_PER_CLOCK_READ 64
#define NS_PER_SECOND          1000000000ULL

__thread struct thread_notes thread_notes;

static u64 timespec_ns(const struct timespec *time)
{
	return (u64)time->tv_sec * NS_PER_SECOND + (u64)time->tv_nsec;
}

static u64 timeval_ns(const struct timeval *time)
{
	return (u64)time->tv_sec * NS_PER_SECOND + (u64)time->tv_usec * 1000;
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
	return timeval_ns(&usage.ru_utime);
}

u64 clock_process_ns(const struct ring_header *ring)
{
	struct timespec now;

	if (ring != NULL && (ring->flags & RING_CLOCK_USER))
		return clock_user_ns(RUSAGE_SELF);
	if (arch_syscall4(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, (long)&now, 0, 0) != 0)
		return 0;
	return timespec_ns(&now);
}

/* Tells the recorder how often threads were switched to: that is part of what we cost. */
static void clock_count_switches(struct ring_header *ring, u64 switches)
{
	if (switches > thread_notes.switches && thread_notes.last_time_ns != 0)
		__atomic_fetch_add(&ring->switches, switches - thread_notes.switches,
				   __ATOMIC_RELAXED);
	thread_notes.switches = switches;
}

/* What the event has counted for this thread since it was born, as far as its clock can tell. */
static u64 clock_thread_ns(struct ring_header *ring)
{
	struct rusage usage;

	if (arch_syscall4(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0) != 0)
		return 0;
	if ((ring->flags & RING_TIMER) && (ring->flags & RING_CLOCK_USER))
		return timeval_ns(&usage.ru_utime);
	const u64 cpu_ns = timeval_ns(&usage.ru_utime) + timeval_ns(&usage.ru_stime);
	const u64 switches = (u64)(usage.ru_nvcsw + usage.ru_nivcsw);
	const u64 switches_ns = switches * ring->switch_cost_ns;

	clock_count_switches(ring, switches);
	return cpu_ns > switches_ns ? cpu_ns - switches_ns : 0;
}

void clock_begin_thread(void)
{
	thread_notes.covered_start_ns = clock_thread_ns(agent.ring);
	thread_notes.covered_ns = thread_notes.covered_start_ns;
	thread_notes.last_time_ns = clock_monotonic_ns();
	thread_notes.lag_ns = 0;
	thread_notes.since_clock_read = 0;
}

static bool is_older_thread(const struct ring_header *ring, int tid)
{
	for (u32 i = 0; i < RING_OLDER_THREADS; i++) {
		if (ring->older_tids[i] == (u32)tid)
			return true;
	}
	return false;
}

/* The first sample of a thread other than the one that said hello. */
static void clock_meet_thread(struct ring_header *ring, u64 now_ns)
{
	thread_notes.tid = (int)arch_syscall4(SYS_gettid, 0, 0, 0, 0);
	if (thread_notes.last_time_ns != 0 || !is_older_thread(ring, thread_notes.tid))
		return;
	/* What it burned before the event was opened is start-up. */
	u64 cpu_ns = clock_thread_ns(ring);

	thread_notes.covered_ns = cpu_ns > ring->period_ns ? cpu_ns - ring->period_ns : 0;
	thread_notes.covered_start_ns = thread_notes.covered_ns;
	thread_notes.last_time_ns = now_ns;
}

static bool clock_must_read(const struct ring_header *ring, u64 now_ns)
{
	if (!agent.may_call)
		return false;
	if (ring->flags & RING_TIMER)
		return true;
	if (++thread_notes.since_clock_read >= SAMPLES_PER_CLOCK_READ)
		return true;
	return now_ns - thread_notes.last_time_ns > ring->period_ns + ring->period_ns / 2;
}

/* Whole periods for what the clock has moved on, one at least. */
static u64 clock_whole_periods(const struct ring_header *ring, u64 event_ns)
{
	const u64 period_ns = ring->period_ns;
	const u64 due_ns =
		event_ns > thread_notes.covered_ns ? event_ns - thread_notes.covered_ns : 0;
	u64 weight_ns = (due_ns + period_ns / 2) / period_ns * period_ns;

	if (weight_ns < period_ns)
		weight_ns = period_ns;
	/* An estimate that fell behind must not swallow what comes next. */
	if (thread_notes.covered_ns + weight_ns > event_ns + period_ns)
		thread_notes.lag_ns +=
			thread_notes.covered_ns + weight_ns - event_ns - period_ns;
	thread_notes.covered_ns += weight_ns;
	return weight_ns;
}

/* The weight of this sample by the thread's clock. */
static u64 clock_settle(struct ring_header *ring)
{
	const u64 event_ns = clock_thread_ns(ring) + thread_notes.lag_ns;
	const u64 covered_ns = thread_notes.covered_ns;

	thread_notes.since_clock_read = 0;
	if (!(ring->flags & (RING_USER_MODE_ONLY | RING_TIMER)))
		return clock_whole_periods(ring, event_ns);
	if (event_ns > covered_ns)
		thread_notes.covered_ns = event_ns;
	/* System time was not counted in between: the sample stands for its period all the same. */
	if (ring->flags & RING_USER_MODE_ONLY)
		return ring->period_ns;
	return thread_notes.covered_ns - covered_ns;
}

struct sample_time clock_weigh(struct ring_header *ring, u32 overruns)
{
	u64 now_ns = clock_monotonic_ns();
	u64 weight_ns = ring->period_ns * (1 + (u64)overruns);

	if (thread_notes.tid == 0)
		clock_meet_thread(ring, now_ns);
	if (clock_must_read(ring, now_ns))
		weight_ns = clock_settle(ring);
	else
		thread_notes.covered_ns += weight_ns;
	thread_notes.last_time_ns = now_ns;
	return (struct sample_time){
		.time_ns = now_ns,
		.weight_ns = weight_ns,
		.covered_ns = thread_notes.covered_ns - thread_notes.covered_start_ns,
	};
}
