/*
 * dispatch - traces CPython 3.11 and later by hooks that its eval loop passes on the way from one
 * instruction to the next.
 *
 * CPython's own events are slow: with a profile function every instruction of 3.10 and 3.11 takes a
 * detour; from 3.12 on sys.monitoring replaces instructions by its own, which are not specialised.
 * But the eval loop jumps to each instruction's code through a table of addresses
 * (python/eval_loop.h), and these can be replaced:
 *
 * - A Python function begins, or is resumed, with RESUME, and ends, or is suspended, with
 *   RETURN_VALUE, RETURN_CONST or YIELD_VALUE.  There are dispatch hooks before these, and before
 *   their variants for other tools' events.
 * - A function that an exception leaves, or that throw() resumes, is reported by sys.monitoring
 *   (PY_UNWIND, PY_THROW): these two events replace no instruction, and cost nothing where nothing
 *   is raised.  On 3.11 eval_frame.h reports them.
 * - Before a call instruction, the callable lies on the value stack.  If it is a C function, a shim
 *   replaces it for this call (python/callable_shims.h), and the loop goes on with the
 *   instruction's general form: a specialised one would check the callable.  The counter behind
 *   CALL, which decides when to specialise, changes as without us.
 * - Another tool must not see a shim.  From 3.12 on the calls that a tool wants have instrumented
 *   instructions: the first of these in an interpreter turns on sys.monitoring's events of C
 *   functions' calls for us, too.  On 3.11 C functions are counted through the other tool's profile
 *   function, while it has one.
 *
 * If the loop's code is not as expected, or the trial fails, the table is restored, and all events
 * come from the profile function or sys.monitoring.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct python_layout;

/* Prepares for an interpreter, which may be another one than before. */
void trace_dispatch_begin(const struct python_layout *layout);
/* The same for 3.11; sets the hooks up as soon as possible.  False: use a profile function. */
bool trace_dispatch_begin_3_11(const struct python_layout *layout);
/*
 * Tries the hooks out once, with the GIL, and calibrates them.  From 3.12 on PY_UNWIND and
 * PY_THROW must already call trace_dispatch_leave() and trace_dispatch_enter().  True: the hooks
 * stay in the table.
 */
bool trace_dispatch_set_up(void);
bool trace_dispatch_is_on(void);

/* Whether a call instruction has entered this frame, which is about to be executed. */
bool trace_dispatch_is_called(u64 frame);

struct call_stack;

/* The calling thread is about to execute, or leave, a function because of an exception. */
void trace_dispatch_enter(struct call_stack *calls, u64 code);
void trace_dispatch_leave(struct call_stack *calls);
