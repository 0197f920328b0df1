/*
 * trace_evaluator - CPython 3.8 to 3.10 traced by a frame evaluator, and before instructions
 * that call.
 *
 * - Python functions: up to 3.10 whatever executes a frame calls the interpreter's evaluator
 *   for it (PEP 523), bytecode that calls a function, too, and each resumption of a generator.
 *   Ours stands in its place: a call begins, the interpreter's own executes the frame, the call
 *   ends. Nothing else is slower for it, and it costs a few words of the C stack for each call.
 * - C functions: stubs before the four instructions that call, in the loop's table of addresses
 *   (trace_loop.h), put a stand-in in the place of what is called (trace_proxies.h).  The loop
 *   also has a switch, by which it goes on to the next instruction when it was interrupted, and
 *   to one whose argument has more than eight bits; that is compiled to a table of its own,
 *   which is data as well (trace_evaluator_switch.c).
 *
 * All of it is tried out before anything is counted for the program, as on 3.11.  What does not
 * come out right leaves the interpreter as it was, and trace_python.c sets its profile
 * function.
 *
 * A profile function that the program sets (cProfile, sys.setprofile()) goes on to be told of
 * all that it is told of without us.  While a thread has one, its calls of C functions are not
 * counted.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct python_layout;

/*
 * Before the interpreter has begun.  True: it is traced by this, or by a profile function, as
 * soon as it can be said which (trace_python_fall_back()).
 */
bool trace_evaluator_begin(const struct python_layout *layout);
bool trace_evaluator_is_on(void);
/* A frame that is about to be executed: is it an instruction that calls by which it is? */
bool trace_evaluator_is_called(u64 frame);
/* A thread state, of another interpreter perhaps, about to execute something; with the GIL. */
void trace_evaluator_see_state(u64 state);
