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

/* Whether an interpreter's image was where its layout says; zero: not seen yet. */
struct interpreter_place {
	u32 found_in; /* one more than the flushes there were; 0: it was not found */
	u64 loop;
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
/* The native walk ended as walk->ending says. */
void interpreters_end_walk(struct walk *walk, struct mem *mem);

/*
 * Whether the interpreter is still where its layout says.  Its functions are called; a program
 * that embeds it may unload it, and run other code in its place.
 */
bool interpreters_is_loaded(struct interpreter_place *place, struct mem *mem, u64 loop,
			    u64 load_bias);
/* Images may have gone. */
void interpreters_flush(void);

static inline bool interpreters_want(const struct walk *walk, u64 address)
{
	return python_has_loop_at(walk->python, address) ||
	       ruby_has_code_at(walk->ruby, address);
}

/*
 * Whether code that no image has is an interpreter's, which tells all of its frames without the
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
