/*
 * python - puts the frames of a CPython thread among the native ones during a walk.
 *
 * Costs nothing until a walk comes to the interpreter's loop, in a process in which the recorder
 * has found one (abi/ring.h, has_python).  walk/python.h finds which frames belong where.
 */
#pragma once
#include <stdbool.h>

#include "abi/ring.h"
#include "agent/core/memory.h"
#include "agent/interpreters/python/scratch.h"
#include "walk/python.h"
#include "walk/python_builtin.h"
#include "walk/python_text.h"

struct walk;

void python_begin_walk(struct python_scratch *scratch, struct ring_header *ring,
		       struct mem *mem);
/*
 * The frame that the walk has just stored is an activation of the loop, and reaches from sp to
 * cfa; is_exact: it was itself interrupted.  Puts its Python frames behind it.  False: that frame
 * is another stack's, and was removed again; the walk is over.
 */
bool python_put_activation(struct walk *walk, struct mem *mem, u64 sp, u64 cfa, bool is_exact);
/* Begins a walk of a state's frames; false: it is not this thread's, or cannot be read. */
bool python_begin_state(struct walk *walk, struct mem *mem, u64 state);
/* The native walk ended as walk->status says, and outer.h has added nothing. */
void python_end_walk(struct walk *walk, struct mem *mem);

/* Whether python_put_activation() is to be called for this address. */
static inline bool python_has_loop_at(const struct python_scratch *scratch, u64 address)
{
	return scratch->layout != NULL && code_ranges_have(scratch->layout->loop, address);
}

/* Whether frames beyond those that can be stored must be counted. */
static inline bool python_must_count(const struct python_scratch *scratch)
{
	return scratch->activations != 0 && scratch->layout->chain == PYTHON_CHAIN_OBJECTS &&
	       !scratch->has_given_up;
}
