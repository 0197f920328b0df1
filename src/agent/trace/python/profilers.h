/*
 * profilers - other profilers, which take places of ours, or are called because of us.
 *
 * Up to 3.11 a thread has one profile function: where calls are seen by that
 * (python/profile_function.c), ours is gone while a program has set its own.  When that is taken away
 * again, no event says so: sys.setprofile(None) and cProfile's disable() leave none.  And from
 * 3.6 on, whatever reports calls, what sys.setprofile() sets is called for those that it is
 * called for without us (python/profile_filter.h).
 *
 * So these are interposed in the interpreter's tables of methods, wherever they are called from:
 * ours call them, and look what the thread has then.  Those of modules that are
 * imported are found when the import system has executed the module, by _imp.exec_builtin()
 * and exec_dynamic(), which are interposed as well.  Of those that extension modules set in C no
 * event reports that they come or go: such a module is noted when it is imported.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct name_text;

/*
 * Before the interpreter begins: where its thread states have c_profilefunc, or 0
 * (python/profile_filter.h).  is_by_us: whether instructions report calls for us alone; or NULL.
 */
void trace_profilers_begin(u32 place, bool (*is_by_us)(void));
/*
 * Something of Python is executed, with the GIL: they are found as soon as the import system is
 * there.  When they have been, nothing is done.
 */
void trace_profilers_look(void);
/*
 * A C function is about to be called for the first time: its PyMethodDef, and "sys.setprofile".
 * It may be one that ours could not be put before.
 */
void trace_profilers_meet(u64 method, const struct name_text *qualified);
