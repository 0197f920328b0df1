/*
 * control - what a program that knows of us asks for: regions of its time under names of its
 * own (regions.h), and to be left alone for a while.
 *
 * Programs in C call what control.c exports, by include/fathom.h.  An interpreter's extension
 * modules are shared objects with a function of a certain name: this library is one, to Python
 * (control/python.c) and to Ruby (control/ruby.c), for modules of ours that find it in their
 * process (docs/decisions/0027).  Nothing of an interpreter is called, or looked for, before.
 *
 * While it is paused a process has the traps that it had, and no handler walks its stacks: a
 * sample says how much time it stands for, and not where.  Calls that are traced are followed,
 * so that it is known where they are when it goes on, and neither counted nor timed.
 */
#pragma once
#include <stdbool.h>

#include "agent/core/regions.h"

/* Whether anything that is asked for here matters. */
bool control_is_on(void);

/* asking: NULL, or the functions within which it is asked for. */
void control_begin_region(const struct region_place *place, const char *name, u64 length,
			  const struct region_asking *asking);
void control_end_region(const struct region_place *place, const char *name, u64 length);
void control_pause(void);
void control_resume(void);
/* In handlers too. */
bool control_is_paused(void);
bool control_is_running(void);

/*
 * control/python.c: the frames of the two innermost functions that the calling thread executes,
 * which holds the GIL, from the inner one on; 0: unknown, or there is none.
 */
void control_python_frames(u64 out_frames[2]);

/* control/ruby.c: Ruby has loaded this library as one of its extensions. */
void control_begin_ruby(void);
/* What Ruby calls then has the file's name in its own, which is no identifier of C's. */
#define CONTROL_RUBY_EXTENSION(file)                      \
	__attribute__((used)) static void init_ruby(void) \
	{                                                 \
		control_begin_ruby();                     \
	}                                                 \
	__asm__(".globl \"Init_" file "\"\n"              \
		".type \"Init_" file "\", @function\n"    \
		".set \"Init_" file "\", init_ruby")
