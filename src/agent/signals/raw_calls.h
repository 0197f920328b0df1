/*
 * raw_calls - signals by syscall(): the same as by libc's functions.
 */
#pragma once
#include <stdbool.h>

/*
 * Makes system call `number` if it is about SIGTRAP as signals.h has it; *out_rc is what the
 * kernel answers, a negative errno if it fails.  False: it is not, and nothing was done.
 */
bool raw_calls_answer(long number, const long arguments[6], long *out_rc);
