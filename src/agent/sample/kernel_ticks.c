#include "agent/sample/kernel_ticks.h"

#include <sys/syscall.h>
#include <time.h>

#include "agent/core/agent.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/core/mechanism.h"
#include "agent/core/thread_notes.h"
#include "agent/sample/clock.h"
#include "agent/signals/signals.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define NS_PER_SECOND 1000000000ULL
/* So much system time that no sample stands for, and such a part of all, is worth a timer. */
#define WORTH_NS   20000000
#define WORTH_PART 16

/* The value of ours: its address. */
static const char mark;

/* The process is to be sampled no more: the timers of its threads go as they come. */
static bool are_stopped;

/* The calling thread's. */
static __thread struct {
	int timer; /* the kernel's number */
	enum { TICK_TIMER_NONE, TICK_TIMER_ON, TICK_TIMER_REFUSED } state;
	u32 pauses; /* ring_header.pauses when it was set last */
} own;

static bool may_call(void)
{
	return __atomic_load_n(&agent.may_call, __ATOMIC_RELAXED);
}

/* One that could not be deleted at its thread's end would stay. */
static bool is_end_seen(void)
{
	return thread_notes.start_function != 0 || thread_notes.tid == agent.pid;
}

static bool is_worth_it(void)
{
	u64 covered_ns;
	const u64 unsampled_ns = clock_unsampled_ns(&covered_ns);

	return unsampled_ns > WORTH_NS && unsampled_ns > covered_ns / WORTH_PART;
}

static void timer_begin(void)
{
	const struct itimerspec once = {
		.it_value = { .tv_sec = (time_t)(agent.terms.period_ns / NS_PER_SECOND),
			      .tv_nsec = (long)(agent.terms.period_ns % NS_PER_SECOND) },
	};

	arch_syscall4(SYS_timer_settime, own.timer, 0, (long)&once, 0);
}

static bool timer_make(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
				  .sigev_signo = SIGTRAP,
				  .sigev_value.sival_ptr = (void *)&mark };

	event.sigev_notify_thread_id = (int)arch_syscall4(SYS_gettid, 0, 0, 0, 0);
	return arch_syscall4(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, (long)&event,
			     (long)&own.timer, 0) == 0;
}

static u32 pauses_of(const struct ring_header *ring)
{
	return __atomic_load_n(&ring->pauses, __ATOMIC_RELAXED);
}

static bool are_unwanted(const struct ring_header *ring)
{
	return __atomic_load_n(&are_stopped, __ATOMIC_RELAXED) || agent.has_timers ||
	       (pauses_of(ring) & 1);
}

/* A debugger has kept the last signal, which would have set the timer again. */
static bool is_stale(const struct ring_header *ring)
{
	return own.state == TICK_TIMER_ON && own.pauses != pauses_of(ring);
}

void kernel_ticks_look(const struct ring_header *ring)
{
	if (!(agent.terms.flags & RING_KERNEL_TICKS) || are_unwanted(ring) || !may_call())
		return;
	if (own.state == TICK_TIMER_NONE && is_end_seen() && is_worth_it())
		own.state = timer_make() ? TICK_TIMER_ON : TICK_TIMER_REFUSED;
	else if (!is_stale(ring))
		return;
	if (own.state != TICK_TIMER_ON)
		return;
	own.pauses = pauses_of(ring);
	clock_begin_ticks();
	timer_begin();
}

bool kernel_ticks_are_of(const siginfo_t *info)
{
	return info->si_code == SI_TIMER && info->si_value.sival_ptr == &mark;
}

/* In a child that shares the memory, or is no copy by fork(), the timer is another process's. */
static void drop(void)
{
	if (own.state != TICK_TIMER_ON || !may_call() || agent_is_of_another())
		return;
	arch_syscall4(SYS_timer_delete, own.timer, 0, 0, 0);
	own.state = TICK_TIMER_NONE;
}

bool kernel_ticks_may_sample(const struct ring_header *ring)
{
	if (are_unwanted(ring)) {
		drop();
		return false;
	}
	if (own.state != TICK_TIMER_ON || !may_call())
		return false;
	own.pauses = pauses_of(ring);
	timer_begin();
	return true;
}

void kernel_ticks_end_thread(void)
{
	drop();
	/* Nor is there to be another one. */
	if (own.state == TICK_TIMER_NONE)
		own.state = TICK_TIMER_REFUSED;
}

/* Those of other threads are dropped by their own. */
static void kernel_ticks_stop(void)
{
	if (agent_is_of_another())
		return;
	__atomic_store_n(&are_stopped, true, __ATOMIC_RELAXED);
	drop();
}

static void kernel_ticks_resume(struct ring_header *ring)
{
	(void)ring;
	if (!agent_is_of_another())
		__atomic_store_n(&are_stopped, false, __ATOMIC_RELAXED);
}

/* The calling thread forks: the signal of its timer would make fork() begin anew (timers.c). */
static __thread bool is_held;

AGENT_START static void kernel_ticks_hold(void)
{
	is_held = own.state == TICK_TIMER_ON;
	if (is_held)
		masks_hold_trap(true);
}

AGENT_START static void kernel_ticks_let_go(void)
{
	if (is_held)
		masks_hold_trap(false);
	is_held = false;
}

/* The kernel gave the child none of its parent's timers. */
AGENT_START static void kernel_ticks_forget(void)
{
	/* A page that a child need not write is its parent's still. */
	if (own.state != TICK_TIMER_NONE)
		own.state = TICK_TIMER_NONE;
	if (are_stopped)
		are_stopped = false;
}

extern const struct mechanism kernel_ticks_mechanism;
const struct mechanism kernel_ticks_mechanism = {
	.stop = kernel_ticks_stop,
	.resume = kernel_ticks_resume,
	.before_fork = kernel_ticks_hold,
	.after_fork_in_parent = kernel_ticks_let_go,
	.forget = kernel_ticks_forget,
	.after_fork = kernel_ticks_let_go,
};
