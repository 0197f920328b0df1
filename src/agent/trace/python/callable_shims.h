/*
 * callable_shims - objects that replace a C function on Python's value stack for one call, and
 * count it.
 *
 * Just before the interpreter executes a call instruction, the callable lies on the frame's value
 * stack.  If it is a C function, a shim replaces it there, and the instruction calls the shim in
 * the same way.  The shim counts a call and calls the function itself with the very same
 * arguments; the call ends when the function returns.  One function of ours does both, so no call
 * can begin and not end.
 *
 * - The shim takes over the value stack's reference: functions have the reference counts that
 *   they would have without us, and one that is dropped during its own call dies when it would.
 * - A shim is called by the function's own protocol: vectorcall (PEP 590) if it has one, else
 *   tp_call.  So arguments are put together once, recursion is counted once, and errors name the
 *   function itself.
 * - The program cannot find one: the garbage collector does not track shims, their type is in no
 *   list of classes, and their name, attributes and representation are those of the function.
 *
 * A thread keeps its free shims for later calls, in its call stack.
 *
 * Needs the GIL, and objects whose first word is only a reference count (no free-threaded builds,
 * none with Py_TRACE_REFS).
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct call_stack;

/*
 * Called when trace_objects is set, before any shim is used; again if another interpreter was
 * loaded.  False: shims are not possible.
 */
bool trace_shims_begin(void);
/*
 * Returns a shim for one call by the calling thread, to replace the callable with one reference;
 * it takes over the callable's.  method is the callable's (trace_python_method()), not 0.  0: out
 * of memory; the call is counted as lost, and the callable's reference stays its owner's.
 */
u64 trace_shims_take(struct call_stack *calls, u64 callable, u64 method);
/*
 * For a taken shim, whose instruction calls such functions without counting the depth of C
 * recursion, while the function's own entry point counts it: compensates for that.  left: the
 * thread state's count of levels still allowed.
 */
void trace_shims_uncount(u64 shim, s32 *left);
