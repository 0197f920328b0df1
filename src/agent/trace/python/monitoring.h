/*
 * monitoring - sets sys.monitoring up in each interpreter of CPython 3.12 and later.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct python_layout;

/*
 * Where dispatch hooks report calls (python/dispatch.h): turns on sys.monitoring's events for
 * calls of C functions, as another tool of this interpreter wants them.  With the GIL.
 */
void trace_monitoring_want_calls(u64 interpreter);
/* With the GIL: whether this interpreter's instructions report calls to our tool alone. */
bool trace_monitoring_is_alone(void);

/* Begins tracing a CPython 3.12 or later. */
void trace_monitoring_begin(const struct python_layout *layout);
/* From 3.15 on, where no thread state shows it: Python may be initialised once more. */
void trace_monitoring_begin_again(void);
/* The calling thread has set this thread state (pthread_setspecific()). */
void trace_monitoring_see_state(u64 state);

/* In a child of fork: no other thread is setting up an interpreter. */
void trace_monitoring_forget_others(void);
