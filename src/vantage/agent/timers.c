/*
 * timers - the trigger where perf events are refused: a timer of the thread's own
 * CPU clock on each thread.
 *
 * The kernel looks at such timers in its tick, so they come at most HZ times a second
 * (250 on most machines), however fast they were asked to; the overrun count and the thread's
 * clock give each sample its whole weight.  They fire while the thread runs, so no
 * system call that sleeps is interrupted.
 */
#include "vantage/agent/agent.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "vantage/agent/arch.h"

#define NS_PER_SECOND 1000000000ULL
/* How often a timer looks if the pause is over, which nothing else tells its thread. */
#define PAUSED_PERIOD_NS NS_PER_SECOND

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static pthread_key_t thread_end;
static bool has_thread_end;

static void timer_drop(void *notes)
{
	struct thread_notes *own = notes;

	if (own->has_timer)
		timer_delete(own->timer);
	own->has_timer = false;
}

void timers_init(void)
{
	if (!has_thread_end)
		has_thread_end = pthread_key_create(&thread_end, timer_drop) == 0;
}

static void timer_begin(u64 period_ns)
{
	const struct timespec period = { .tv_sec = (time_t)(period_ns / NS_PER_SECOND),
					 .tv_nsec = (long)(period_ns % NS_PER_SECOND) };
	const struct itimerspec every = { .it_interval = period, .it_value = period };

	thread_notes.is_timer_slow = period_ns == PAUSED_PERIOD_NS;
	timer_settime(thread_notes.timer, 0, &every, NULL);
}

static bool timer_make(void)
{
	/* The value tells ours from a timer of the program's: on_trap(). */
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
				  .sigev_signo = SIGTRAP,
				  .sigev_value.sival_ptr = &agent };
	timer_t timer;

	event.sigev_notify_thread_id = (int)syscall(SYS_gettid);
	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0)
		return false;
	thread_notes.timer = timer;
	thread_notes.has_timer = true;
	if (has_thread_end)
		pthread_setspecific(thread_end, &thread_notes);
	return true;
}

void timers_arm_thread(const struct ring_header *ring)
{
	/* Its traps would be its debugger's. */
	if (__atomic_load_n(&ring->pauses, __ATOMIC_RELAXED) & 1)
		return;
	if (thread_notes.has_timer || timer_make())
		timer_begin(agent.terms.period_ns);
}

void timers_disarm_thread(void)
{
	timer_drop(&thread_notes);
}

bool timers_may_sample(const struct ring_header *ring)
{
	const bool is_paused = __atomic_load_n(&ring->pauses, __ATOMIC_RELAXED) & 1;

	if (is_paused != thread_notes.is_timer_slow && thread_notes.has_timer &&
	    __atomic_load_n(&agent.may_call, __ATOMIC_RELAXED))
		timer_begin(is_paused ? PAUSED_PERIOD_NS : agent.terms.period_ns);
	return !is_paused;
}

/* The kernel gave the child none of its parent's timers. */
void timers_disarm_after_fork(void)
{
	thread_notes.has_timer = false;
}
