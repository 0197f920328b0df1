/*
 * truth - what a workload knows of itself, as one line of JSON.
 *
 * A workload measures its own phases with the thread's CPU clock and says at its
 * end how long each function, thread or process of it really computed.  Tests
 * compare this with what a profiler says.
 */
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__has_attribute)
#if __has_attribute(noipa)
#define KEEP __attribute__((noipa)) /* a frame of its own, never merged or specialised */
#endif
#endif
#ifndef KEEP
#define KEEP __attribute__((noinline))
#endif

enum truth_kind {
	TRUTH_SELF,    /* in the function, without what it calls */
	TRUTH_TOTAL,   /* in the function and what it calls */
	TRUTH_EDGE,    /* "caller>callee": in the callee when called by this caller */
	TRUTH_THREAD,  /* CPU time of all threads with this name */
	TRUTH_PROCESS, /* CPU time of all processes with this role */
	TRUTH_COUNT,   /* not a time: a number the test reads */
	TRUTH_KINDS,
};

/* CPU time of the calling thread, user and system. */
uint64_t truth_thread_cpu_ns(void);
/* CPU time of the calling process, all threads there ever were. */
uint64_t truth_process_cpu_ns(void);

/* Adds to what is known of name; names live as long as the program.  Not for threads at once.
 */
void truth_add(enum truth_kind kind, const char *name, uint64_t amount);
/* One line of JSON to stdout, with the process's CPU time as "cpu_ns". */
void truth_print(void);

/* The first argument as milliseconds of CPU time to burn, or the default. */
uint64_t truth_budget_ns(int argc, char **argv, uint64_t default_ms);

/*
 * An amount of work for this turn, from least to least + span, without rhythm: turns of
 * equal length fall into step with a sampler.
 */
uint64_t truth_vary(uint64_t turn, uint64_t least, uint64_t span);

#ifdef __cplusplus
}
#endif
