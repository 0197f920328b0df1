/* interpreters' row: what it does at the steps of a process's life. */
#include <stddef.h>

#include "agent/core/agent.h"
#include "agent/core/agent_state.h"
#include "agent/core/mechanism.h"
#include "agent/interpreters/layouts.h"
#include "agent/interpreters/ruby/api.h"

/* Ruby's has pages of its own, which most children never touch. */
AGENT_START static void forget(void)
{
	layouts_forget();
	if (agent.fork.has_ruby)
		ruby_api_forget();
}

extern const struct mechanism interpreters_mechanism;
const struct mechanism interpreters_mechanism = {
	.forget = forget,
};
