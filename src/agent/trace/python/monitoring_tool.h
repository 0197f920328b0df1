/*
 * monitoring_tool - our tool in an interpreter's sys.monitoring: its callbacks, and the events that
 * it asks for.
 *
 * With the GIL, in the interpreter that is meant; module is its sys.monitoring.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

/* An interpreter that has a tool of ours. */
struct monitored {
	u64 interpreter;
	u64 before; /* whose place it was, which may be there still: it is looked at again */
	int tool;
	int all;        /* events */
	int with_calls; /* those where there are dispatch hooks that do not see all calls */
	bool has_calls; /* they are on, or all are */
};

/* Whether there is one; none: the object. */
bool trace_tool_is_there(void *module, u64 none);
/* Sets one up, with dispatch hooks if there can be, and calibrates it. */
bool trace_tool_set_up(void *module, struct monitored *place);
bool trace_tool_set_events(void *module, int tool, int events);
