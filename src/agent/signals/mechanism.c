/* signals' row: what it does at the steps of a process's life. */
#include <stddef.h>

#include "abi/handshake.h"
#include "agent/core/own_handshake.h"
#include "agent/core/own_process.h"
#include "agent/core/own_ring.h"
#include "agent/core/permits.h"
#include "agent/core/agent_state.h"
#include "agent/core/environment.h"
#include "agent/core/handshake.h"
#include "agent/core/mechanism.h"
#include "agent/signals/altstack.h"
#include "agent/signals/faults.h"
#include "agent/signals/go_runtime.h"
#include "agent/signals/ignored.h"
#include "agent/signals/interposed.h"
#include "agent/signals/raw_calls.h"
#include "agent/signals/signals.h"
#include "agent/signals/stack_flags.h"

AGENT_START static void start(void)
{
	altstack_begin();
	signals_begin(environment_inherits_ignored_trap());
}

/* If no trap of any recorder will come: gives SIGTRAP back to the program. */
AGENT_START static void settle(void)
{
	if (own_ring.header == NULL && !own_handshake.may_be_trapped)
		signals_give_back();
}

AGENT_START static void begin(struct ring_header *ring, bool is_first)
{
	(void)ring;
	(void)is_first;
	altstack_begin_thread();
}

static void before_thread(const void *caller)
{
	ignored_before_thread();
	if (caller != NULL)
		go_runtime_look(caller);
}

static void begin_thread(u64 start_function)
{
	(void)start_function;
	altstack_begin_thread();
}

static void forbid_calls(void)
{
	/* Now, since later it may take system calls that are forbidden. */
	if (permits.may_call && !agent_is_of_another())
		stack_flags_allow();
}

/* No trap may come from now on: no handler can return. */
static void forbid_handlers(void)
{
	if (!own_process.is_trap_ours)
		return;
	signals_ignore_trap();
	/* A vfork child has no events, and its memory is its parent's. */
	if (!agent_is_of_another())
		handshake_stop(HANDSHAKE_NO_RETURN);
}

HOOKS_DEFINE(signals_hooks, SIGNALS_HOOKS);

extern const struct mechanism signals_mechanism;
const struct mechanism signals_mechanism = {
	.hooks = &signals_hooks,
	.start = start,
	.settle = settle,
	.wait_for_handshake = altstack_begin_thread,
	.begin = begin,
	.forget = signals_take_over,
	.after_fork = altstack_forget_others,
	.before_thread = before_thread,
	.wants_thread = altstack_is_wanted,
	.begin_thread = begin_thread,
	.show_signals = signals_show,
	.hide_signals = signals_hide,
	.may_load = faults_may_come,
	.answer_call = raw_calls_answer,
	.forbid_calls = forbid_calls,
	.forbid_handlers = forbid_handlers,
};
