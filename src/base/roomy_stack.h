/*
 * roomy_stack - runs a function on a stack of 8 MiB, whatever the stack limit is.
 *
 * libdw puts arrays on the stack whose size is determined by a file's tables, and a user
 * profiling under a small `ulimit -s` gives us that limit as well.
 */
#pragma once

/* Returns function's result. If no thread can be created, it runs on the caller's stack. */
int roomy_stack_run(int (*function)(void *context), void *context);
