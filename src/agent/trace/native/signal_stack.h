/*
 * signal_stack - the calling thread's alternate signal stack, if it has set one: addresses on it
 * cannot be compared with those of the calls that the signal interrupted.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

/* Whether an address is on that stack. */
bool trace_signal_stack_holds(u64 address);
/* The step answer_call (core/mechanism.h), for sigaltstack(2) called through syscall(). */
bool trace_signal_stack_answer(long number, const long arguments[6], long *out_rc);
