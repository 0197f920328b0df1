#include "agent/sample/late_hello.h"

#include <sys/syscall.h>
#include <time.h>

#include "abi/handshake.h"
#include "agent/core/hello.h"
#include "agent/core/own_process.h"
#include "agent/core/permits.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/core/handshake.h"
#include "agent/core/mechanism.h"
#include "agent/core/thread_notes.h"
#include "agent/sample/cpu_timer.h"

static struct {
	bool has_timer;
	int timer; /* the kernel's number */
	u32 occasion;
} late AGENT_STATE;

AGENT_START static bool timer_begin(void)
{
	late.has_timer = cpu_timer_make_own(&late, &late.timer);
	if (late.has_timer)
		cpu_timer_begin(late.timer, agent_hello.late_ns, agent_hello.late_ns);
	return late.has_timer;
}

static void timer_end(void)
{
	if (late.has_timer)
		cpu_timer_delete(late.timer);
	late.has_timer = false;
}

/* Once: the timer's handler may interrupt this. */
AGENT_START static void say_hello(void)
{
	if (!__atomic_exchange_n(&agent_hello.is_due, false, __ATOMIC_RELAXED))
		return;
	timer_end();
	handshake_run(late.occasion, HANDSHAKE_NO_REASON);
}

AGENT_START bool late_hello_begin(u32 occasion, u64 period_ns)
{
	late.occasion = occasion;
	agent_hello.late_ns = period_ns;
	agent_hello.is_due = true;
	own_process.pid = (int)arch_syscall4(SYS_getpid, 0, 0, 0, 0);
	agent_hello.may_be_trapped = true;
	/*
	 * Now, not in the handler: an alternate stack that is set there is undone when it
	 * returns.
	 */
	MECHANISMS_DO(wait_for_hello, ());
	if (!timer_begin())
		say_hello();
	return true;
}

void late_hello_now(void)
{
	if (agent_hello.is_due && permits.may_call && !agent_is_of_another())
		say_hello();
}

void late_hello_hold(void)
{
	timer_end();
}

void late_hello_go_on(void)
{
	if (agent_hello.is_due && !late.has_timer)
		timer_begin();
}

AGENT_START void late_hello_forget(void)
{
	agent_hello.is_due = false;
	late.has_timer = false;
}

bool late_hello_is_timer(const siginfo_t *info)
{
	return cpu_timer_is_of(info, &late);
}

void late_hello_take(void)
{
	/* If our own code was interrupted, the timer's next signal does it. */
	if (agent_hello.is_due && !thread_notes.is_in_agent)
		late_hello_now();
}
