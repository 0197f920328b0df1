/*
 * signal_stack - the alternate stack for signals that the calling thread has set, if any: calls
 * that handlers make on it are no further in than what the signal has interrupted.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

/* Whether an address is on it. */
bool trace_signal_stack_holds(u64 address);
/* The step answer_call (core/mechanism.h): sigaltstack(2) by syscall(). */
bool trace_signal_stack_answer(long number, const long arguments[6], long *out_rc);
