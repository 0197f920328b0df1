/*
 * clock - the weight of a sample: the time it stands for.
 *
 * A trap of a user-mode-only event stands for one period.  Where the event counts system
 * time too, the kernel sends one trap for each return to user mode, however many periods
 * went by; then the thread's CPU clock tells.  Reading it is a system call (0.3 us), so
 * CLOCK_MONOTONIC is asked first: a thread cannot have burned more CPU time than has gone by,
 * and if that is less than one and a half periods, this sample stands for one.  The CPU clock
 * is read every so often all the same, so that nothing adds up.
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

/* The vDSO answers without a system call wherever the machine's counter can be trusted. */
static u64 clock_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return timespec_ns(&now);
}

static u64 clock_read_ns(clockid_t clock)
{
	struct timespec now;

	if (arch_syscall4(SYS_clock_gettime, clock, (long)&now, 0, 0) != 0)
		return 0;
	return timespec_ns(&now);
}

static u64 clock_user_ns(int who)
{
	struct rusage usage;

	if (arch_syscall4(SYS_getrusage, who, (long)&usage, 0, 0) != 0)
		return 0;
	return (u64)usage.ru_utime.tv_sec * NS_PER_SECOND + (u64)usage.ru_utime.tv_usec * 1000;
}

u64 clock_process_ns(const struct ring_header *ring)
{
	if (ring != NULL && (ring->flags & RING_CLOCK_USER))
		return clock_user_ns(RUSAGE_SELF);
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* What the recording's clock has counted for this thread since it was born. */
static u64 clock_thread_ns(const struct ring_header *ring)
{
	if ((ring->flags & RING_TIMER) && (ring->flags & RING_CLOCK_USER))
		return clock_user_ns(RUSAGE_THREAD);
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

void clock_begin_thread(void)
{
	thread_notes.covered_start_ns = clock_thread_ns(agent.ring);
	thread_notes.covered_ns = thread_notes.covered_start_ns;
	thread_notes.last_time_ns = clock_monotonic_ns();
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
static void clock_meet_thread(const struct ring_header *ring, u64 now_ns)
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

struct sample_time clock_weigh(const struct ring_header *ring, u32 overruns)
{
	u64 now_ns = clock_monotonic_ns();
	u64 period_ns = ring->period_ns * (1 + (u64)overruns);
	u64 weight_ns = period_ns;

	if (thread_notes.tid == 0)
		clock_meet_thread(ring, now_ns);
	u64 covered_ns = thread_notes.covered_ns + period_ns;

	if (clock_must_read(ring, now_ns)) {
		u64 cpu_ns = clock_thread_ns(ring);

		thread_notes.since_clock_read = 0;
		if (cpu_ns != 0) {
			covered_ns = cpu_ns;
			weight_ns = cpu_ns > thread_notes.covered_ns
					    ? cpu_ns - thread_notes.covered_ns
					    : 0;
		}
		/* The event did not count the system time in between: nor does the sample. */
		if ((ring->flags & RING_USER_MODE_ONLY) && !(ring->flags & RING_TIMER))
			weight_ns = period_ns;
	}
	thread_notes.covered_ns = covered_ns;
	thread_notes.last_time_ns = now_ns;
	return (struct sample_time){
		.time_ns = now_ns,
		.weight_ns = weight_ns,
		.covered_ns = covered_ns > thread_notes.covered_start_ns
				      ? covered_ns - thread_notes.covered_start_ns
				      : 0,
	};
}
