/*
 * only - decides whether a Python function need not be followed (fathom trace --only).
 *
 * abi/only.h decides which functions are wanted.  The reader of the recording applies the same
 * rule, so unwanted functions may be followed here, and usually are: where an event comes anyway,
 * counting it costs less than finding out that it is unwanted, and its cost can be subtracted.
 * Hiding pays where the interpreter can be asked to send no more events for a function.
 *
 * A callee is judged when it is first named; its key and its identity keep the verdict.
 */
#pragma once
#include <stdbool.h>

#include "abi/trace.h"

struct code;
struct trace_call;

void trace_only_begin(const struct trace_area *area);
/* Whether there are patterns at all. */
bool trace_only_is_on(void);
/* Judges a code object whose texts have been read. */
void trace_only_judge(const struct code *code);
/* Whether to skip a call's event; the answer for one callee never changes. */
bool trace_only_hides(const struct trace_call *call, u64 (*name_of)(const struct trace_call *));
