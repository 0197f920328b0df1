/*
 * dispatch_3_11 - CPython 3.11 traced where its loop goes from one instruction to the next.
 *
 * 3.11 has no hook for calls that leaves the rest of the program as fast as it is: with a
 * profile function each instruction takes a detour, and sys.monitoring came with 3.12.  But
 * its loop goes from each instruction to the next by a table of 256 addresses
 * (opcode_targets[]), which is data.  So a few of the table's entries are ours: those of
 * instructions that call, of RETURN_VALUE, of what begins an exception's handler, and the
 * last one, DO_TRACING.  Behind each is a dispatch hook that calls a hook and goes on to where the
 * entry pointed before; no code is changed, and what calls nothing is executed as ever.
 *
 * - A call begins.  The hook looks at what is called, as the instruction will.  It has the
 *   next instruction, whichever that is, go by way of DO_TRACING, by the flag in the loop's
 *   own _PyCFrame (use_tracing) that the loop looks at between two instructions.
 * - At DO_TRACING there is either a frame that is about to execute its first instruction: the
 *   call of a Python function; or the caller's next one, or its handler: the end of a C
 *   function's.  The flag is taken back, and NOP's entry goes on to the instruction itself.
 * - Python functions that C calls (a __next__, a key function, a thread's first) come to an
 *   evaluator of ours (PEP 523), which calls the loop.  With an evaluator set the loop would
 *   also call itself for calls between Python functions, as it did up to 3.10: recursion
 *   would take the C stack.  So it is not set while such a call is executed.
 *
 * Where the loop has its stack pointer and its next instruction is the compiler's choice: it
 * is looked for, by watching code whose instructions are known, and all of it is tried by a
 * piece of Python that calls in every way there is, counted in memory of our own, before
 * anything is counted for the program.  What does not come out right leaves the interpreter
 * as it was, and python/profile_function.c sets its profile function.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct python_layout;

/*
 * Before the interpreter has begun.  True: it is traced by this, or by a profile function, as
 * soon as it can be said which (fall_back()).
 */
bool trace_dispatch_3_11_begin(const struct python_layout *layout, void (*fall_back)(void));
/* It is: other tools' functions have their places, and other interpreters need no search. */
bool trace_dispatch_3_11_is_on(void);
/* A frame that is about to be executed: is it the loop that called it, or C? */
bool trace_dispatch_3_11_is_called(u64 frame);
