/*
 * monitoring - what sys.monitoring calls at each event, and what it needs for that.
 *
 * python/monitoring.c has how it comes to be called.
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

struct python_layout;

#define TRACE_CALLBACKS 9
extern const struct trace_callback trace_callbacks[TRACE_CALLBACKS];

/* Of the interpreter; before the first event. */
struct trace_monitoring_objects {
	void *none;
	void *disable; /* sys.monitoring.DISABLE, which is immortal as well */
	u64 missing;   /* sys.monitoring.MISSING */
};
extern struct trace_monitoring_objects trace_monitoring_objects;

/*
 * Where dispatch hooks report calls (python/dispatch.h): in this interpreter sys.monitoring does from now on,
 * of those that others ask it for.  With the GIL.
 */
void trace_monitoring_want_calls(u64 interpreter);
/*
 * Whether the instructions of the calling thread's interpreter report calls, and for us alone.
 * With the GIL.
 */
bool trace_monitoring_is_alone(void);

/* CPython 3.12 and later begins. */
void trace_monitoring_begin(const struct python_layout *layout);
/* From 3.15 on, where states are not seen: Python may be about to begin once more. */
void trace_monitoring_begin_again(void);
void trace_monitoring_see_state(const struct python_layout *layout, u64 state);

/* In a child of fork: no other thread is setting up an interpreter. */
void trace_monitoring_forget_others(void);
