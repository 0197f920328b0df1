/* exec's row: the steps of a process's life at which it does something. */
#include <stddef.h>

#include "agent/core/agent_state.h"
#include "agent/core/mechanism.h"
#include "agent/exec/interposed.h"
#include "agent/exec/launch.h"
#include "agent/exec/scratch.h"

AGENT_START static void forget(void)
{
	scratch_forget();
	system_forget();
	popen_forget();
}

HOOKS_DEFINE(exec_hooks, EXEC_HOOKS);

extern const struct mechanism exec_mechanism;
const struct mechanism exec_mechanism = {
	.hooks = &exec_hooks,
	.forget = forget,
};
