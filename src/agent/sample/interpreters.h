/*
 * interpreters - puts the frames of Python and Ruby programs among the native ones of a walk.
 *
 * The walk calls interpreters/ only through this file.  An
 * interpreter executes its program in a C function, its loop; one call of that, with its frame
 * on the native stack, is an activation.  python.h puts an activation's frames behind it as the
 * walk passes it; ruby.h marks the place, and fills it when the walk is over.
 */
#pragma once
#include <stdbool.h>

#include "agent/core/walk.h"
#include "agent/interpreters/python/python.h"
#include "agent/interpreters/ruby/ruby.h"

/* A native frame that the walk has stored (the innermost: its leaf), and has stepped out of. */
struct native_frame {
	u64 address;
	u64 sp, cfa;   /* it reaches from sp to cfa */
	bool is_exact; /* address is the interrupted instruction, not a return address */
};

/*
 * Before the first load: if the walk begins on a stack that is not the thread's own, finds out from
 * the interpreter's state how far that reaches.
 */
void interpreters_find_stack(const struct walk *walk, struct mem *mem);
void interpreters_begin_walk(struct walk *walk, struct mem *mem);
/*
 * The walk has stored a frame whose address interpreters_want().  False: it is another stack's, and
 * was removed again; the walk is over.
 */
bool interpreters_meet(struct walk *walk, struct mem *mem, const struct native_frame *frame);
/* The native walk ended as walk->status says. */
void interpreters_end_walk(struct walk *walk, struct mem *mem);

static inline bool interpreters_want(const struct walk *walk, u64 address)
{
	return python_has_loop_at(walk->python, address) ||
	       ruby_has_code_at(walk->ruby, address);
}

/*
 * Whether code in no image may be an interpreter's, whose frames are all known without the native
 * ones that called it.  YJIT's code follows no unwind rule: a step out of it may lead anywhere.
 */
static inline bool interpreters_go_on_alone(const struct walk *walk)
{
	return walk->ruby->layout != NULL;
}

/* Whether frames beyond those that can be stored must be counted. */
static inline bool interpreters_must_count(const struct walk *walk)
{
	return python_must_count(walk->python);
}
