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
 * Two such words keep the places of an activation's frame and of the C function that it calls,
 * until these are known.  No key is 0.
 */
#define PYTHON_PLACE_OF_FRAME RING_INTERPRETED

/*
 * A C function's frame is at most so many frames away from the loop that calls it: helpers of the
 * interpreter come between.
 */
#define PYTHON_NEAR_FRAMES 4

/* The search for the callable whose code is executed nearest to the loop. */
struct python_search {
	u64 near[PYTHON_NEAR_FRAMES]; /* addresses */
	u32 count;
	u32 best; /* index of the nearest so far; count: none */
	bool is_top_known;
	bool is_doubtful; /* another one shares that code */
	struct python_builtin found;
};

/* Memory for one walk; python_begin_walk() initialises it. */
struct python_scratch {
	const struct python_layout *layout; /* NULL: there is no interpreter */
	struct python_walk walk;
	struct python_walk left;       /* `walk`, while another interpreter is tried */
	u32 frames_at;                 /* index of the activation's first word */
	u32 activations;               /* of the loop, that the walk came to */
	u8 status;                     /* enum walk_status, of the Python frames */
	struct python_frame outermost; /* the outermost frame that was stored */
	u64 caller; /* 2.7 to 3.10: the first frame of the interpreter that called this one */
	bool has_given_up;
	/* Words of the innermost activation's frames, if it was interrupted itself. */
	u32 doubtful_at, doubtful_count;
	/* Keys of the code objects of this walk: none of them can be freed meanwhile. */
	struct {
		u64 code, key;
	} memo[PYTHON_MEMO];
	struct python_search search;
	struct name_text texts[3];
};
