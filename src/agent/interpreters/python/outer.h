/*
 * outer - Python's frames where the native walk ended before the outermost frame.
 *
 * Hand-written assembler without unwind rules, or code that was made at run time, ends a native
 * walk.  Python's frames are linked by themselves: those outside of the activations that were
 * met follow the native frames as the outer part, and native frames are missing between them.
 * Joined is at the innermost activation that was not met; where it is uncertain which that is
 * (half-made activations, several interpreters in the process) the stack stays cut.
 */
#pragma once
#include <stdbool.h>

struct mem;
struct walk;

/*
 * At the end of a walk.  True: it was cut, and the frames follow if walk->status says that they
 * are all there.  False: nothing was done.
 */
bool python_put_outer(struct walk *walk, struct mem *mem);
