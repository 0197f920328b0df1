/*
 * monitoring - CPython from 3.12 on by sys.monitoring: when it is set up, in each interpreter.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct python_layout;

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
