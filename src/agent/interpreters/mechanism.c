/* interpreters' row: what it does at the steps of a process's life. */
#include <stddef.h>

#include "abi/ring.h"
#include "agent/core/agent_state.h"
#include "agent/core/mechanism.h"
#include "agent/core/own_ring.h"
#include "agent/interpreters/layouts.h"
#include "agent/interpreters/ruby/api.h"

/* Set before a fork: the child would touch a page of the ring to find it. */
static bool has_ruby AGENT_STATE;

AGENT_START static void before_fork(void)
{
	const struct ring_header *ring = own_ring.header;

	has_ruby = ring != NULL && ring->has_ruby;
}

/* Ruby's state is on pages of its own, which most children never touch. */
AGENT_START static void forget(void)
{
	layouts_forget();
	if (has_ruby)
		ruby_api_forget();
}

extern const struct mechanism interpreters_mechanism;
const struct mechanism interpreters_mechanism = {
	.before_fork = before_fork,
	.forget = forget,
};
