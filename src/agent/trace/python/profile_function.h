/*
 * profile_function - CPython 3.6 to 3.11 by a profile function on every thread state.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct python_layout;

/* Py_tracefunc, and the PyTrace_… of Include/pystate.h that it is called for. */
typedef int trace_profile_function(void *object, void *frame_object, int what, void *argument);
enum trace_profile_event {
	TRACE_PROFILE_CALL = 0,
	TRACE_PROFILE_RETURN = 3, /* with an exception, too */
	TRACE_PROFILE_C_CALL = 4,
	TRACE_PROFILE_C_EXCEPTION = 5,
	TRACE_PROFILE_C_RETURN = 6,
};

/* Where this version's thread states have c_profilefunc; 0: it is not known. */
u32 trace_profile_begin(const struct python_layout *layout);
/* Functions are set by trace_python_fall_back() only. */
void trace_profile_put_off(void);
/* Has the main thread find out what measuring costs, as soon as it can; once. */
void trace_python_calibrate(void);
/* A thread has said which thread state is its own. */
void trace_python_see_state(const struct python_layout *layout, u64 state);
/* From 3.8 on, where the better way is not to be had; with the GIL. */
void trace_python_fall_back(void);
/*
 * The profile function of the calling thread, where calls are seen by that, if it has none now.
 * Says whether it has another's.
 */
bool trace_python_put_back(void);
/* Whether calls are seen by a profile function. */
bool trace_python_is_by_function(void);
/* Whether the calling thread has ours. */
bool trace_python_has_function(void);
/* There will be other interpreters, whose thread states are not seen to begin. */
void trace_python_meet_interpreters(void);
