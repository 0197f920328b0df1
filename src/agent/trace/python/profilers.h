/*
 * profilers - copes with other profilers, which replace our profile function, or get our events.
 *
 * Up to 3.11 a thread has one profile function: where calls are reported by it
 * (python/profile_function.c), ours is gone while the program has set its own, and no event
 * reports when that is removed: sys.setprofile(None) and cProfile's disable() leave none set.
 * And from 3.6 on, however calls are reported, a function set by sys.setprofile() must be called
 * only for what it would be called for without us (python/profile_filter.h).
 *
 * So these functions are interposed in the interpreter's method tables, wherever they are called
 * from: ours call the originals, and check what the thread has then.  Functions of imported
 * modules are found after the import system has executed the module by _imp.exec_builtin() or
 * exec_dynamic(), which are interposed, too.  No event reports profile functions that extension
 * modules set and remove in C: such a module is noted when it is imported.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct name_text;

/*
 * Before the interpreter starts.  place: offset of c_profilefunc in thread states, or 0
 * (python/profile_filter.h).  is_by_us: whether instructions report calls to us alone; or NULL.
 */
void trace_profilers_begin(u32 place, bool (*is_by_us)(void));
/*
 * Called when a Python function is first called, with the GIL: interposes the functions as soon
 * as the import system exists; then does nothing more.
 */
void trace_profilers_look(void);
/*
 * A C function is about to be called for the first time; qualified: such as "sys.setprofile".
 * Notes functions of other profilers that could not be interposed.
 */
void trace_profilers_meet(u64 method, const struct name_text *qualified);
