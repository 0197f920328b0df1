/*
 * scratch - memory for the Python frames of one walk.
 */
#pragma once
#include <stdbool.h>

#include "abi/ring.h"
#include "agent/core/memory.h"
#include "walk/python.h"
#include "walk/python_builtin.h"
#include "walk/python_text.h"

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
struct python_scratch {
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
