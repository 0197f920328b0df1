/*
 * outer - adds Python's outer frames where the native walk was cut short.
 *
 * Hand-written assembler without unwind rules, or code that was made at run time, ends a native
 * walk.  Python's frames are linked by themselves: those outside of the activations that the walk
 * came to are put behind the native frames, and native frames are missing between them.
 * They are joined at the innermost activation that the walk did not come to; where it is uncertain
 * which that is (half-made activations, several interpreters in the process) the stack stays cut.
 */
#pragma once
#include <stdbool.h>

struct mem;
struct walk;

/*
 * At the end of a walk.  True: it was cut, and walk->status shows whether the frames were added.
 * False: nothing was done.
 */
bool python_put_outer(struct walk *walk, struct mem *mem);
