/*
 * thread_end - what threads and processes have burned when they end, which no sample stands for.
 *
 * A thread's destructor of thread-specific data books what it burned since its last sample (in
 * all, if it had none) on the function it began with.  A process's CPU time is noted where it
 * leaves its program: at the end of exit(), in _exit(), before an exec.  The kernel's teardown
 * comes behind both, and is [exit].
 */
#pragma once
#include "abi/types.h"

/* In a process that is sampled from now on. */
void thread_end_begin(void);
/* In a thread that is about to run this function. */
void thread_end_expect(u64 start_function);
/* In a process that ends here, or executes another program, unless that fails. */
void thread_end_of_process(void);
/* That failed. */
void thread_end_take_back(void);
