/*
 * roomy_stack - runs a function on a stack of 8 MiB, whatever the limit is.
 *
 * libdw puts arrays on the stack whose size a file's tables decide, and whoever profiles a
 * program under a small `ulimit -s` gives that limit to us as well.
 */
#pragma once

/* What function returns.  Where no thread can be made, it runs on the caller's stack. */
int roomy_stack_run(int (*function)(void *context), void *context);
