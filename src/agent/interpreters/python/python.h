/*
 * python - the frames of a CPython thread, put among the native ones as a walk comes by.
 *
 * Begins to cost where a walk meets the interpreter's loop, in a process whose recorder
 * has found one (abi/ring.h, has_python).  walk/python.h has which frames belong where.
 */
#pragma once
#include <stdbool.h>

#include "abi/ring.h"
#include "agent/core/memory.h"
#include "walk/python.h"
#include "walk/python_builtin.h"
#include "walk/python_text.h"

struct walk;

#define PYTHON_MEMO 64

/*
 * Stands twice for the frame of an activation, and the C function that it calls, until it is
 * known which: no key is 0.
 */
#define PYTHON_PLACE_OF_FRAME RING_INTERPRETED

/*
 * A C function is that near to the loop that calls it: helpers of the interpreter come between.
 */
#define PYTHON_NEAR_FRAMES 4

/* Looking for the callable whose code is executed nearest to the loop. */
struct python_search {
	u64 near[PYTHON_NEAR_FRAMES]; /* addresses */
	u32 count;
	u32 best; /* index of the nearest so far; count: none */
	bool is_top_known;
	bool is_doubtful; /* another one shares that code */
	struct python_builtin found;
};

/* Room for one walk; what it held does not matter, but for python_begin_walk(). */
struct python_room {
	const struct python_layout *layout; /* NULL: there is no interpreter */
	struct python_walk walk;
	struct python_walk left;       /* while another interpreter is tried */
	u32 frames_at;                 /* in the walk's words, of the present activation's */
	u32 activations;               /* of the loop, that were met */
	u8 status;                     /* enum walk_status, of the Python frames */
	struct python_frame outermost; /* of those that were stored */
	u64 caller; /* 2.7 to 3.10: the first frame of the interpreter that called this one */
	bool has_given_up;
	/* Words of the innermost activation's frames, if it was interrupted itself. */
	u32 doubtful_at, doubtful_count;
	/* Keys of the code objects that this walk has met: none of them can go meanwhile. */
	struct {
		u64 code, key;
	} memo[PYTHON_MEMO];
	struct python_search search;
	struct name_text texts[3];
};

void python_begin_walk(struct python_room *room, struct ring_header *ring, struct mem *mem);
/*
 * The frame that the walk has just stored is an activation of the loop, and reaches from sp to
 * cfa; is_exact: it was interrupted there.  Puts its Python frames behind it.  False: that frame
 * is another stack's, and is taken away again; the walk is over.
 */
bool python_put_activation(struct walk *walk, struct mem *mem, u64 sp, u64 cfa, bool is_exact);
/* Begins with a thread's state; false: it is none of this thread's, or cannot be read. */
bool python_begin_state(struct walk *walk, struct mem *mem, u64 state);
/* The native walk ended as walk->ending says. */
void python_end_walk(struct walk *walk, struct mem *mem);

/* Whether python_put_activation() is to be called for this address. */
static inline bool python_has_loop_at(const struct python_room *room, u64 address)
{
	return room->layout != NULL && code_ranges_have(room->layout->loop, address);
}

/* Whether frames beyond those that can be stored must be counted. */
static inline bool python_must_count(const struct python_room *room)
{
	return room->activations != 0 && room->layout->chain == PYTHON_CHAIN_OBJECTS &&
	       !room->has_given_up;
}
