/*
 * monitoring_calls - what sys.monitoring calls at each event, and what it needs for that.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "abi/types.h"
#include "agent/trace/python/callback.h"

struct trace_callback {
	const char *event; /* of sys.monitoring.events */
	trace_vectorcall *callback;
	bool is_of_builtins;
	bool is_implied; /* by CALL: it cannot be asked for */
	bool is_global;  /* it cannot be asked for of one function */
	/* Where only some functions are wanted; NULL: it makes no difference. */
	trace_vectorcall *of_wanted;
};

#define TRACE_CALLBACKS 9
extern const struct trace_callback trace_callbacks[TRACE_CALLBACKS];

/* Of the interpreter; before the first event. */
struct trace_monitoring_objects {
	void *none;
	void *disable; /* sys.monitoring.DISABLE, which is immortal as well */
	u64 missing;   /* sys.monitoring.MISSING */
};
extern struct trace_monitoring_objects trace_monitoring_objects;
