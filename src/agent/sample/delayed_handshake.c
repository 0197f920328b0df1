#include "agent/sample/delayed_handshake.h"

#include <sys/syscall.h>
#include <time.h>

#include "abi/handshake.h"
#include "agent/core/own_handshake.h"
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
} delayed AGENT_STATE;

AGENT_START static bool timer_begin(void)
{
	delayed.has_timer = cpu_timer_make_own(&delayed, &delayed.timer);
	if (delayed.has_timer)
		cpu_timer_begin(delayed.timer, own_handshake.delay_ns, own_handshake.delay_ns);
	return delayed.has_timer;
}

static void timer_end(void)
{
	if (delayed.has_timer)
		cpu_timer_delete(delayed.timer);
	delayed.has_timer = false;
}

/* Once: the timer's handler may interrupt this. */
AGENT_START static void make_handshake(void)
{
	if (!__atomic_exchange_n(&own_handshake.is_due, false, __ATOMIC_RELAXED))
		return;
	timer_end();
	handshake_run(delayed.occasion, HANDSHAKE_NO_REASON);
}

AGENT_START bool delayed_handshake_begin(u32 occasion, u64 period_ns)
{
	delayed.occasion = occasion;
	own_handshake.delay_ns = period_ns;
	own_handshake.is_due = true;
	own_process.pid = (int)arch_syscall4(SYS_getpid, 0, 0, 0, 0);
	own_handshake.may_be_trapped = true;
	/* Now: an alternate stack that is set in the handler is undone when it returns. */
	MECHANISMS_DO(wait_for_handshake, ());
	if (!timer_begin())
		make_handshake();
	return true;
}

void delayed_handshake_now(void)
{
	if (own_handshake.is_due && permits.may_call && !agent_is_of_another())
		make_handshake();
}

void delayed_handshake_hold(void)
{
	timer_end();
}

void delayed_handshake_go_on(void)
{
	if (own_handshake.is_due && !delayed.has_timer)
		timer_begin();
}

AGENT_START void delayed_handshake_forget(void)
{
	own_handshake.is_due = false;
	delayed.has_timer = false;
}

bool delayed_handshake_is_timer(const siginfo_t *info)
{
	return cpu_timer_is_of(info, &delayed);
}

void delayed_handshake_take(void)
{
	/* If our own code was interrupted, the timer's next signal does it. */
	if (own_handshake.is_due && !thread_notes.is_in_agent)
		delayed_handshake_now();
}
