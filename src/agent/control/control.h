/*
 * control - what a program can ask of the profiler: named regions and pauses.
 *
 * Programs in C call the functions that control.c exports, by include/fathom.h.  An
 * interpreter's extension modules are shared objects with a function of a certain name: this
 * library is one, for Python (control/python.c) and for Ruby (control/ruby.c), for modules of
 * ours that find it in their process (docs/decisions/0027).  Before that, nothing of an
 * interpreter is called, or looked for.
 *
 * While a process is paused its traps still come, but no handler walks its stacks: a sample has
 * the time that it stands for, and no place.  Traced calls are followed, so that the call stack
 * is right when tracing goes on, but neither counted nor timed.
 */
#pragma once
#include <stdbool.h>

#include "agent/core/regions.h"

/* Whether this process is sampled or traced, so that requests have an effect. */
bool control_is_on(void);

/* asking: the Python functions that ask for it; NULL: none, as in C and Ruby. */
void control_begin_region(const struct region_place *place, const char *name, u64 length,
			  const struct region_asking *asking);
void control_end_region(const struct region_place *place, const char *name, u64 length);
void control_pause(void);
void control_resume(void);
/* Callable in handlers. */
bool control_is_paused(void);
bool control_is_running(void);

/*
 * control/python.c: the frames of the two innermost Python functions of the calling thread, which
 * holds the GIL, the inner one first; 0: unknown, or there is none.
 */
void control_python_frames(u64 out_frames[2]);

/* control/ruby.c: Ruby has loaded this library as one of its extensions. */
void control_begin_ruby(void);
/* Defines the function that Ruby calls: its name has the file's in it, which C forbids. */
#define CONTROL_RUBY_EXTENSION(file)                      \
	__attribute__((used)) static void init_ruby(void) \
	{                                                 \
		control_begin_ruby();                     \
	}                                                 \
	__asm__(".globl \"Init_" file "\"\n"              \
		".type \"Init_" file "\", @function\n"    \
		".set \"Init_" file "\", init_ruby")
