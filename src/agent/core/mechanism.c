/* core's row: what it interposes. */
#include <stddef.h>

#include "agent/core/interposed.h"
#include "agent/core/mechanism.h"

HOOKS_DEFINE(core_hooks, CORE_HOOKS);

extern const struct mechanism core_mechanism;
const struct mechanism core_mechanism = {
	.hooks = &core_hooks,
};
