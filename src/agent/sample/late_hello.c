#include "agent/sample/late_hello.h"

#include <sys/syscall.h>
#include <time.h>

#include "abi/handshake.h"
#include "agent/core/agent.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/core/environment.h"
#include "agent/core/handshake.h"
#include "agent/core/mechanism.h"
#include "agent/core/thread_notes.h"

#define NS_PER_SECOND 1000000000ULL

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static struct {
	bool has_timer;
	int timer; /* the kernel's number: libc knows nothing of it */
	u32 occasion;
	struct sigevent event;
} late AGENT_STATE = {
	/* The value distinguishes ours from a timer of the program's. */
	.event = { .sigev_notify = SIGEV_THREAD_ID,
		   .sigev_signo = SIGTRAP,
		   .sigev_value.sival_ptr = &late },
};

AGENT_START static bool timer_begin(void)
{
	const struct timespec period = { .tv_sec = (time_t)(agent.late_ns / NS_PER_SECOND),
					 .tv_nsec = (long)(agent.late_ns % NS_PER_SECOND) };
	const struct itimerspec every = { .it_interval = period, .it_value = period };

	late.event.sigev_notify_thread_id = (int)arch_syscall4(SYS_gettid, 0, 0, 0, 0);
	late.has_timer = arch_syscall4(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID,
				       (long)&late.event, (long)&late.timer, 0) == 0;
	if (late.has_timer)
		arch_syscall4(SYS_timer_settime, late.timer, 0, (long)&every, 0);
	return late.has_timer;
}

static void timer_end(void)
{
	if (late.has_timer)
		arch_syscall4(SYS_timer_delete, late.timer, 0, 0, 0);
	late.has_timer = false;
}

/* Not twice: the timer may interrupt this. */
AGENT_START static void say_hello(void)
{
	if (!__atomic_exchange_n(&agent.is_hello_due, false, __ATOMIC_RELAXED))
		return;
	timer_end();
	handshake_run(late.occasion, HANDSHAKE_NO_REASON);
}

AGENT_START bool late_hello_begin(u32 occasion, u64 period_ns)
{
	late.occasion = occasion;
	agent.late_ns = period_ns;
	agent.is_hello_due = true;
	agent.pid = (int)arch_syscall4(SYS_getpid, 0, 0, 0, 0);
	agent.may_be_trapped = true;
	/* Not in the handler: what it sets goes when it returns. */
	MECHANISMS_DO(wait_for_hello, ());
	if (!timer_begin())
		say_hello();
	return true;
}

void late_hello_now(void)
{
	if (agent.is_hello_due && agent.may_call && !agent_is_of_another())
		say_hello();
}

void late_hello_hold(void)
{
	timer_end();
}

void late_hello_go_on(void)
{
	if (agent.is_hello_due && !late.has_timer)
		timer_begin();
}

AGENT_START void late_hello_forget(void)
{
	agent.is_hello_due = false;
	late.has_timer = false;
}

bool late_hello_is_timer(const siginfo_t *info)
{
	return info->si_code == SI_TIMER && info->si_value.sival_ptr == &late;
}

void late_hello_take(void)
{
	/* Our own code is in the midst of something: the timer comes again. */
	if (agent.is_hello_due && !thread_notes.is_in_agent)
		late_hello_now();
}
