/*
 * monitoring_calls - the table of our callbacks for sys.monitoring, and the objects they use.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "abi/types.h"
#include "agent/trace/python/callback.h"

struct trace_callback {
	const char *event; /* its name in sys.monitoring.events */
	trace_vectorcall *callback;
	bool is_of_builtins;
	bool is_implied; /* comes with CALL, and cannot be enabled alone */
	bool is_global;  /* cannot be enabled for single functions */
	/* The callback used with --only; NULL: the same. */
	trace_vectorcall *of_wanted;
};

#define TRACE_CALLBACKS 9
extern const struct trace_callback trace_callbacks[TRACE_CALLBACKS];

/* The interpreter's objects, set before the first event. */
struct trace_monitoring_objects {
	void *none;
	void *disable; /* sys.monitoring.DISABLE, immortal, too */
	u64 missing;   /* sys.monitoring.MISSING */
};
extern struct trace_monitoring_objects trace_monitoring_objects;
