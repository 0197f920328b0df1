/*
 * profile_filter - keeps from the program's profile function the ends of C calls that began
 * before it was set.
 *
 * Up to 3.11 CPython reports C_RETURN only if it reported C_CALL.  From 3.12 on it reports it
 * wherever an instruction reports calls, which it does if any tool wants them.  If ours is the
 * only such tool, a profile function set meanwhile would be called at the end of each C function
 * that its thread is in, beginning with sys.setprofile() itself, which profile.py takes for an
 * error.  So a function of ours is set instead, which passes on everything else.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"
#include "agent/trace/python/profile_function.h"

/* Leading words of a thread state that contain c_profilefunc and c_profileobj (pystate.h). */
#define TRACE_PROFILE_FILTER_WORDS 32

/* The calling thread's state before a profile function is set. */
struct trace_profile_filter {
	u64 state; /* 0: no thread state, or unknown */
	u64 words[TRACE_PROFILE_FILTER_WORDS];
	bool had_ours;  /* python/profile_function.c's */
	bool is_by_us;  /* instructions report calls to us alone, by sys.monitoring */
	bool is_passed; /* the thread has our function, which passes events on */
};

/* place: of c_profilefunc in a thread state; 0: find it when a function is first set. */
void trace_profile_filter_begin(u32 place, bool (*is_by_us)(void));
/* Before the calling thread sets or clears a profile function; with the GIL. */
void trace_profile_filter_before(struct trace_profile_filter *out);
/* After that; given: the argument of sys.setprofile(). */
void trace_profile_filter_after(const struct trace_profile_filter *before, u64 given);
/* The same, after one was set in all threads. */
void trace_profile_filter_after_all(const struct trace_profile_filter *before, u64 given);
