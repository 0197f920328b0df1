#include "agent/interpreters/python/outer.h"

#include "agent/core/arch.h"
#include "agent/core/regions.h"
#include "agent/core/walk.h"
#include "agent/interpreters/python/names.h"
#include "agent/interpreters/python/python.h"
#include "agent/interpreters/python/state.h"
#include "agent/interpreters/ruby/ruby.h"

/*
 * Finds the thread's state if the walk came to no activation; at the first one it was found
 * already.  A thread that executes no Python has no state.
 */
static bool find_thread(struct walk *walk, struct mem *mem)
{
	struct python_scratch *scratch = walk->python;

	if (scratch->activations > 0)
		return true;
	const u64 state = python_find_state(mem, scratch->layout);

	return state != 0 &&
	       python_is_state(mem, scratch->layout, state, arch_thread_pointer()) &&
	       python_begin_state(walk, mem, state);
}

static bool is_cut(const struct walk *walk)
{
	return walk_status_of_interpreted(walk->status) != walk->status;
}

/*
 * Whether the frames that would be added are callers of the stored ones.  The innermost frame,
 * in the loop and not stepped out of, may be an activation that is half made.
 */
static bool may_follow(const struct walk *walk, struct mem *mem)
{
	const struct python_scratch *scratch = walk->python;

	if (scratch->has_given_up || scratch->status != WALK_COMPLETE ||
	    python_has_interpreters(mem, scratch->layout))
		return false;
	if (scratch->activations == 0)
		return walk->count > 0 || !code_ranges_have(scratch->layout->loop, walk->leaf);
	return scratch->activations > 1 || scratch->doubtful_count == 0 ||
	       python_outer_is_certain(mem, &scratch->walk);
}

/* 2.7 to 3.10: activations' frames are not known, so all are added, from the first one's place. */
static bool begin_outer(struct walk *walk, struct mem *mem)
{
	if (walk->python->layout->chain != PYTHON_CHAIN_OBJECTS)
		return python_outer_begin(mem, &walk->python->walk) >= 0;
	for (u32 i = 0; i < walk->count; i++) {
		if (walk->frames[i] == PYTHON_PLACE_OF_FRAME)
			walk->count = i;
	}
	return true;
}

/* True: all frames from here to the outermost are stored, or as many as there is room for. */
static bool put_linked(struct walk *walk, struct mem *mem)
{
	struct python_frame frame;

	for (u32 i = 0; i < 2 * WALK_MAX_FRAMES; i++) {
		const enum python_step step =
			python_linked_next(mem, &walk->python->walk, &frame);

		if (step == PYTHON_END)
			return true;
		if (step == PYTHON_SKIP)
			continue;
		const u64 word =
			step == PYTHON_FRAME ? python_name_frame(walk, mem, &frame) : 0;

		if (word == 0)
			return false;
		if (walk->regions.regions != NULL)
			regions_meet_python(walk, frame.address, frame.code);
		if (!walk_push(walk, word))
			return true;
	}
	return false;
}

bool python_put_outer(struct walk *walk, struct mem *mem)
{
	const struct python_scratch *scratch = walk->python;
	const u64 met = walk->regions.met;

	/* Which of two interpreters' frames are further out is not known. */
	if (scratch->layout == NULL || walk->ruby->layout != NULL || !is_cut(walk) ||
	    !find_thread(walk, mem) || !may_follow(walk, mem) || !begin_outer(walk, mem))
		return false;
	const u32 before = walk->count;

	if (!put_linked(walk, mem)) {
		walk->count = before;
		walk->regions.met = met;
	} else if (walk->count > before || scratch->activations > 0) {
		/* All frames were met, and behind the outermost is no caller's: a greenlet's stack. */
		walk->status = walk->count == before && walk->is_astray
				       ? WALK_SWITCHED
				       : (u8)walk_status_of_interpreted(walk->status);
	}
	return true;
}
