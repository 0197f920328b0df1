/* signals' row: what it does at the steps of a process's life. */
#include <stddef.h>

#include "agent/core/agent.h"
#include "agent/core/agent_state.h"
#include "agent/core/environment.h"
#include "agent/core/mechanism.h"
#include "agent/signals/altstack.h"
#include "agent/signals/go_runtime.h"
#include "agent/signals/ignored.h"
#include "agent/signals/signals.h"

AGENT_START static void start(void)
{
	altstack_begin();
	signals_begin(environment_inherits_ignored_trap());
}

/* No traps come here, of ours or of another's. */
AGENT_START static void settle(void)
{
	if (agent.ring == NULL && !agent.may_be_trapped)
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

extern const struct mechanism signals_mechanism;
const struct mechanism signals_mechanism = {
	.start = start,
	.settle = settle,
	.wait_for_hello = altstack_begin_thread,
	.begin = begin,
	.forget = signals_take_over,
	.after_fork = altstack_forget_others,
	.before_thread = before_thread,
	.wants_thread = altstack_is_wanted,
	.begin_thread = begin_thread,
};
