/*
 * raw_calls - does for signal system calls by syscall() what is done for libc's functions.
 */
#pragma once
#include <stdbool.h>

/*
 * Makes system call `number` if SIGTRAP matters to it (signals.h); *out_rc is the kernel's
 * result, a negative errno if it fails.  False: it does not, and nothing was done.
 */
bool raw_calls_answer(long number, const long arguments[6], long *out_rc);
