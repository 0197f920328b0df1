/*
 * callable_shims - callable objects that replace a C function on the value stack for the length of one call.
 *
 * Just before the interpreter executes an instruction that calls, the callable lies on the frame's
 * value stack.  If it is a C function it is replaced there by a shim, which the instruction calls in
 * the same way.  The shim counts a call and calls the function itself with the very same arguments;
 * the call has ended when that returns.  Both happen in one function of ours, so that no call can
 * begin and not end.
 *
 * - The shim takes over the stack's reference: reference counts of functions are what they are without
 *   us, and a function that is dropped in its own call dies when it would.
 * - A shim is called by the protocol that the function itself would be called by: vectorcall
 *   (PEP 590) if it has one, else tp_call.  So arguments are put together once, recursion is counted
 *   once, and errors name the function itself.
 * - The program cannot find one.  The garbage collector does not track shims, their type is in no list
 *   of classes, and their name, attributes and representation are those of the function.
 *
 * A thread keeps its shims for its next calls, in its call stack.
 *
 * With the GIL, and where an object's first word is its reference count and nothing else (no
 * free-threaded builds, none with Py_TRACE_REFS).
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct call_stack;

/*
 * Before the first of them, when trace_objects is known; again if another interpreter was
 * loaded.  False: there can be none.
 */
bool trace_shims_begin(void);
/*
 * A shim for one call by the calling thread, to be put in the callable's place with one
 * reference, as that had; it has taken over the callable's.  method is the callable's
 * (trace_python_method()), which is not 0.  0: there is no memory, and the call is counted as
 * lost; the callable goes on to be its owner's.
 */
u64 trace_shims_take(struct call_stack *calls, u64 callable, u64 method);
/*
 * Of one that has been taken: the instruction it comes from calls such functions without
 * counting how deep calls are in C, which their own entries do.  left: the thread state's count
 * of those that are still allowed.
 */
void trace_shims_uncount(u64 shim, s32 *left);
