/*
 * monitoring_tool - our tool in an interpreter's sys.monitoring: its callbacks and events.
 *
 * All with the GIL, in the thread's interpreter; module is its sys.monitoring.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

/* An interpreter in which we have a tool. */
struct monitored {
	u64 interpreter;
	u64 before; /* the interpreter that had this place, if it may still exist */
	int tool;
	int all;        /* all events that we want */
	int with_calls; /* events needed beside dispatch hooks that do not see all calls */
	bool has_calls; /* the events for calls are enabled */
};

/* Whether we have a tool; none: None's address. */
bool trace_tool_is_there(void *module, u64 none);
/* Sets our tool up, with dispatch hooks if possible, and calibrates. */
bool trace_tool_set_up(void *module, struct monitored *place);
bool trace_tool_set_events(void *module, int tool, int events);
