/*
 * interpreters - the frames of interpreted programs, put among the native ones of a walk.
 *
 * The one place at which the walk speaks to them, whichever there are in the process.  An
 * interpreter executes its program in a C function, its loop; one call of that, with its frame
 * on the native stack, is an activation.  python.h puts an activation's frames behind it as the
 * walk comes by; ruby.h marks the place, and fills it when the walk is over.
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
	bool is_exact; /* it was interrupted there itself */
};

/*
 * Before anything is loaded: where the walk begins on a stack that is not the thread's own, an
 * interpreter may know how far that reaches.
 */
void interpreters_find_stack(const struct walk *walk, struct mem *mem);
void interpreters_begin_walk(struct walk *walk, struct mem *mem);
/*
 * A frame whose address interpreters_want().  False: it is another stack's, and is taken away
 * again; the walk is over.
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
 * Whether code that no image has is an interpreter's, which shows all of its frames without the
 * native ones that called it.  YJIT's keeps to no rule: a step out of it may lead anywhere.
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
