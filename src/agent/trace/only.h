/*
 * only - functions that are not wanted (fathom trace --only) need not be followed.
 *
 * Which are wanted is abi/only.h's to say; a recording is read by the same rule, so what is
 * followed here all the same is left out there.  That is the usual case: where an event comes
 * anyway, to count it costs less than to find out that it is not wanted, and what it cost can be
 * subtracted.  It is worth it where the interpreter can be asked for no more events.
 *
 * A callee is judged when it is named for the first time; the verdict is kept by its key, and
 * by what hooks know it by.
 */
#pragma once
#include <stdbool.h>

#include "abi/trace.h"

struct code;
struct trace_call;

void trace_only_begin(const struct trace_area *area);
/* Whether there are patterns at all. */
bool trace_only_is_on(void);
/* What a key stands for: the texts are there. */
void trace_only_judge(const struct code *code);
/* Of a call that begins, or ends: the same for one callee for ever. */
bool trace_only_hides(const struct trace_call *call, u64 (*name_of)(const struct trace_call *));
