/*
 * thread_end - reports the CPU time of threads and processes that end, for which no sample stands.
 *
 * A destructor of thread-specific data books a thread's CPU time since its last sample (in
 * all, if it had none) on the function that it began with.  A process's CPU time is noted where it
 * leaves its program: at the end of exit(), in _exit(), before an exec.  The kernel's teardown
 * comes after both, and is reported as [exit].
 */
#pragma once
#include "abi/types.h"

/* Makes the destructor's key, in a process that is sampled from now on. */
void thread_end_begin(void);
/* In a thread that is about to run this function. */
void thread_end_expect(u64 start_function);
/* Notes the process's CPU time: it ends here, or executes another program. */
void thread_end_of_process(void);
/* The exec failed: removes it. */
void thread_end_take_back(void);
