/*
 * profile_filter - a profile function of the program's gets no ends of calls begun before it was set.
 *
 * Up to 3.11 CPython reports C_RETURN only if it reported C_CALL; from 3.12 on it does where an
 * instruction reports calls, which it does if a tool asked for them.  Where ours is the only such
 * tool, a function that is set meanwhile would be called at the end of each C function that its
 * thread is in, of sys.setprofile() itself first, which profile.py takes for an error.  So a
 * function of ours is called in its place, and passes on everything but these.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"
#include "agent/trace/python/profile_function.h"

/* From c_profilefunc to c_profileobj, and where both are (Include/cpython/pystate.h). */
#define TRACE_PROFILE_FILTER_WORDS 32

/* What the calling thread had before one was set. */
struct trace_profile_filter {
	u64 state; /* 0: it has none, or is not to be looked at */
	u64 words[TRACE_PROFILE_FILTER_WORDS];
	bool had_ours; /* python/profile_function.c's */
	bool is_by_us; /* its instructions report calls for us alone, by sys.monitoring */
	bool is_passed;
};

/*
 * Before the first of them: where a thread state has c_profilefunc.  0: it is found out when a
 * function is set first, by what changes then.
 */
void trace_profile_filter_begin(u32 place, bool (*is_by_us)(void));
/* The calling thread is about to set one, or none; with the GIL. */
void trace_profile_filter_before(struct trace_profile_filter *out);
/* It has: the object that was given to sys.setprofile(). */
void trace_profile_filter_after(const struct trace_profile_filter *before, u64 given);
/* The same of all threads. */
void trace_profile_filter_after_all(const struct trace_profile_filter *before, u64 given);
