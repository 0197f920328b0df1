/*
 * dispatch - CPython 3.11 and later traced where its loop goes from one instruction to the
 * next.
 *
 * The events that CPython has take longer than what is done at them: up to 3.11 a profile function
 * makes each instruction take a detour, from 3.12 on sys.monitoring replaces instructions by its own,
 * and these are not specialised.  But the loop goes to each instruction by a table of addresses
 * (python/eval_loop.h).  So:
 *
 * - A Python function begins, or is resumed, with RESUME and ends, or is left for a while, with
 *   RETURN_VALUE, RETURN_CONST or YIELD_VALUE.  There are dispatch hooks before these, and before what
 *   other tools' events make of them.
 * - A function that an exception leaves, or that is resumed by one, is reported by
 *   sys.monitoring (PY_UNWIND, PY_THROW): these two events replace no instruction, and cost
 *   nothing where nothing is raised.  On 3.11 by eval_frame.h.
 * - Before an instruction that calls, what is called lies on the stack of values.  If it is a
 *   C function, a shim is put in its place for this call (python/callable_shims.h), and the loop
 *   goes on with the instruction's general form: a special one would look at what it calls.
 *   What an instruction was made for (the counter behind CALL) is as without us.
 * - Another tool must not see a shim.  From 3.12 on a call that it wants is instrumented: the
 *   first one in an interpreter turns on our events of C functions' calls there.  On 3.11
 *   C functions are counted by way of its profile function, while it has one.
 *
 * Where the loop is not as it should be known, or the trial fails, the table is as it was, and
 * all events are the profile function's or sys.monitoring's.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct python_layout;

/* The interpreter may be another one than there was before. */
void trace_dispatch_begin(const struct python_layout *layout);
/* The same of 3.11, and sets them up when it can.  False: it is to be traced by a profile function. */
bool trace_dispatch_begin_3_11(const struct python_layout *layout);
/*
 * Tries them out, with the GIL, where PY_UNWIND and PY_THROW, if there are, call
 * trace_dispatch_leave() and trace_dispatch_enter(); once.  True: they are in the table from now on.
 */
bool trace_dispatch_set_up(void);
/* Finds out what they cost, on the same thread. */
void trace_dispatch_calibrate(void);
bool trace_dispatch_is_on(void);

/* A frame that is about to be executed: is it an instruction that calls by which it is? */
bool trace_dispatch_is_called(u64 frame);

struct call_stack;

/* What the calling thread is about to execute, or to leave, by an exception. */
void trace_dispatch_enter(struct call_stack *calls, u64 code);
void trace_dispatch_leave(struct call_stack *calls);
