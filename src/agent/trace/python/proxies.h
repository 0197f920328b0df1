/*
 * proxies - objects that stand in the place of a C function for the length of one call.
 *
 * Just before the interpreter executes an instruction that calls, what it is about to call lies
 * in the frame's stack of values.  If that is a C function it is replaced there by a stand-in,
 * which the instruction calls without knowing the difference.  The stand-in counts a call,
 * calls the function itself with the very same arguments, and the call has ended when that
 * returns: both happen in one function of ours, so that no call can begin and not end.
 *
 * - The reference that was the stack's is the stand-in's: reference counts of functions are
 *   what they are without us, and a function that is dropped in its own call dies when it
 *   would.
 * - A stand-in is called by the protocol that the function itself would be called by:
 *   vectorcall (PEP 590) if it has one, else tp_call.  So arguments are put together once,
 *   recursion is counted once, and errors name the function itself.
 * - Nobody sees one.  It is no object of the garbage collector's, its type is no class that any
 *   other knows, its name, its attributes and its representation are those of the function.
 *
 * A thread's stand-ins are kept for its next calls, with its tracer.
 *
 * With the GIL, and where an object's first word is its reference count and nothing else (no
 * free-threaded builds, none with Py_TRACE_REFS).
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct tracer;

/*
 * Before the first of them, when trace_objects is known; again if another interpreter was
 * loaded.  False: there can be none.
 */
bool trace_proxies_begin(void);
/*
 * A stand-in for one call by the calling thread, to be put in the callable's place with one
 * reference, as that had; it has taken over the callable's.  method is the callable's
 * (trace_python_method()), which is not 0.  0: there is no memory, and the call is counted as
 * lost; the callable goes on to be its owner's.
 */
u64 trace_proxies_take(struct tracer *tracer, u64 callable, u64 method);
/*
 * Of one that has been taken: the instruction it comes from calls such functions without
 * counting how deep calls are in C, which their own entries do.  left: the thread state's count
 * of those that are still allowed.
 */
void trace_proxies_uncount(u64 proxy, s32 *left);
