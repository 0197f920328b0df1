/*
 * told - what a profile function that the program sets is told of calls begun before
 * it.
 *
 * Nothing: up to 3.11 an instruction tells of the end of a call if it has told of its
 * beginning, and from 3.12 on if it is one that tells of calls, which it is where somebody
 * has asked for them.  Where it does so for us alone, a function that is set meanwhile would
 * be told of the end of each C function that its thread has under way, and of
 * sys.setprofile()'s own first, which profile.py takes for an error.  So a function of ours
 * is called in its place, which passes everything on but these.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"
#include "agent/trace/python/profile_function.h"

/* From c_profilefunc to c_profileobj, and where both are (Include/cpython/pystate.h). */
#define TRACE_TOLD_WORDS 32

/* What the calling thread had before one was set. */
struct trace_told {
	u64 state; /* 0: it has none, or is not to be looked at */
	u64 words[TRACE_TOLD_WORDS];
	bool had_ours; /* python/profile_function.c's */
	bool is_by_us; /* its instructions tell of calls for us alone, by sys.monitoring */
	bool is_passed;
};

/*
 * Before the first of them: where a thread state has c_profilefunc.  0: it is found out when a
 * function is set first, by what changes then.
 */
void trace_told_begin(u32 place, bool (*is_by_us)(void));
/* The calling thread is about to set one, or none; with the GIL. */
void trace_told_before(struct trace_told *out);
/* It has: the object that was given to sys.setprofile(). */
void trace_told_after(const struct trace_told *before, u64 given);
/* The same of all threads. */
void trace_told_after_all(const struct trace_told *before, u64 given);
