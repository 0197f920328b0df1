/*
 * profile_function - traces CPython 3.6 to 3.11 by a profile function on every thread state.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct python_layout;

/* Py_tracefunc, and its events (PyTrace_… of Include/pystate.h). */
typedef int trace_profile_function(void *object, void *frame_object, int what, void *argument);
enum trace_profile_event {
	TRACE_PROFILE_CALL = 0,
	TRACE_PROFILE_RETURN = 3, /* also when an exception leaves the function */
	TRACE_PROFILE_C_CALL = 4,
	TRACE_PROFILE_C_EXCEPTION = 5,
	TRACE_PROFILE_C_RETURN = 6,
};

/* Begins; returns the offset of c_profilefunc in this version's thread states; 0: unknown. */
u32 trace_profile_begin(const struct python_layout *layout);
/* Sets no functions until trace_python_fall_back(). */
void trace_profile_put_off(void);
/* Has the main thread calibrate as soon as it can; once. */
void trace_python_calibrate(void);
/* The calling thread has set this thread state (pthread_setspecific()). */
void trace_python_see_state(u64 state);
/* Sets the functions after all: dispatch hooks have failed.  With the GIL. */
void trace_python_fall_back(void);
/*
 * Sets the calling thread's profile function again if it has none now (and is traced by one).
 * True: the thread has another one.
 */
bool trace_python_put_back(void);
/* Whether calls are reported by a profile function. */
bool trace_python_is_by_function(void);
/* Whether the calling thread has ours. */
bool trace_python_has_function(void);
/* The program will create interpreters, whose first thread states are not noticed otherwise. */
void trace_python_meet_interpreters(void);
