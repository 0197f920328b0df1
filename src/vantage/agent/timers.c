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

void timers_arm_thread(u64 period_ns)
{
	const struct itimerspec every = {
		.it_interval = { .tv_sec = (time_t)(period_ns / 1000000000ULL),
				 .tv_nsec = (long)(period_ns % 1000000000ULL) },
		.it_value = { .tv_sec = (time_t)(period_ns / 1000000000ULL),
			      .tv_nsec = (long)(period_ns % 1000000000ULL) },
	};
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGTRAP };
	timer_t timer;

	event.sigev_notify_thread_id = (int)syscall(SYS_gettid);
	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0)
		return;
	thread_notes.timer = timer;
	thread_notes.has_timer = true;
	if (has_thread_end)
		pthread_setspecific(thread_end, &thread_notes);
	timer_settime(timer, 0, &every, NULL);
}

/* The kernel gave the child none of its parent's timers. */
void timers_disarm_after_fork(void)
{
	thread_notes.has_timer = false;
}
