#include "agent/interpreters/python/python.h"

#include "abi/ring.h"
#include "agent/core/arch.h"
#include "agent/core/regions.h"
#include "agent/core/walk.h"
#include "agent/interpreters/layouts.h"
#include "agent/interpreters/place.h"
#include "agent/interpreters/python/names.h"
#include "agent/interpreters/python/state.h"

/* 2.7 to 3.10: the most frames that are counted. */
#define MOST_OBJECTS 65536U
/* The most states of one thread, in the interpreters of a process. */
#define MOST_STATES 16U

/* The `distance` of struct python_walk depends on the build alone: kept for the next walk. */
static u64 known_distance;
static struct interpreter_place place;

void python_begin_walk(struct python_scratch *scratch, struct ring_header *ring,
		       struct mem *mem)
{
	const struct python_layout *layout = layouts_python(ring);

	scratch->layout =
		layout != NULL && interpreter_is_loaded(&place, mem, layout->loop[0].start,
							layout->load_bias)
			? layout
			: NULL;
	scratch->activations = 0;
	scratch->doubtful_count = 0;
	scratch->status = WALK_COMPLETE;
	scratch->has_given_up = false;
}

static void fail(struct python_scratch *scratch, enum walk_status status)
{
	if (scratch->status == WALK_COMPLETE)
		scratch->status = (u8)status;
}

static void give_up(struct python_scratch *scratch, enum walk_status status)
{
	fail(scratch, status);
	scratch->has_given_up = true;
}

bool python_begin_state(struct walk *walk, struct mem *mem, u64 state)
{
	struct python_scratch *scratch = walk->python;

	for (u32 i = 0; i < PYTHON_MEMO; i++)
		scratch->memo[i].code = 0;
	if (!python_is_state(mem, scratch->layout, state, arch_thread_pointer()) ||
	    python_begin(mem, scratch->layout, state,
			 __atomic_load_n(&known_distance, __ATOMIC_RELAXED),
			 &scratch->walk) < 0) {
		__atomic_fetch_add(&walk->ring->python_refusals, 1, __ATOMIC_RELAXED);
		return false;
	}
	__atomic_fetch_add(&walk->ring->python_walks, 1, __ATOMIC_RELAXED);
	return true;
}

/* At the first activation of a walk. */
static void begin(struct walk *walk, struct mem *mem)
{
	struct python_scratch *scratch = walk->python;
	u64 state = python_find_state(mem, scratch->layout);

	/*
	 * python_find_state() finds the first of a thread's states.  A host that makes them by
	 * hand, one for each interpreter, may delete that one and go on with another (mod_wsgi).
	 */
	if (state == 0)
		state = python_list_state(mem, scratch->layout, 0);
	if (state == 0) {
		give_up(scratch, WALK_CODE_UNMATCHED);
		return;
	}
	if (!python_begin_state(walk, mem, state))
		give_up(scratch, WALK_CODE_UNREADABLE);
}

/* Stores the frames of the activation that was entered; returns how that ended. */
static enum python_step put_frames(struct walk *walk, struct mem *mem, enum python_step step,
				   struct python_frame *out_innermost)
{
	const u32 before = walk->count;
	struct python_frame frame;

	for (u32 i = 0; i < 2 * WALK_MAX_FRAMES; i++) {
		if (step != PYTHON_FRAME && step != PYTHON_SKIP)
			return step;
		step = python_next(mem, &walk->python->walk, &frame);
		if (step != PYTHON_FRAME)
			continue;
		const u64 word = python_name_frame(walk, mem, &frame);

		if (word == 0)
			return PYTHON_BROKEN;
		if (walk->count == before)
			*out_innermost = frame;
		if (walk->regions.regions != NULL)
			regions_meet_python(walk, frame.address, frame.code);
		if (!walk_push(walk, word))
			return PYTHON_END;
	}
	return PYTHON_BROKEN;
}

/* Inserts a word before an activation's native frame, number `loop`. */
static void insert_before(struct walk *walk, u32 loop, u64 word)
{
	if (word == 0 || !walk_push(walk, 0))
		return;
	for (u32 i = walk->count - 1; i > loop; i--)
		walk->frames[i] = walk->frames[i - 1];
	walk->frames[loop] = word;
}

/*
 * Enters an activation.  If its frames do not fit, the activation before may have been half made
 * and had none: then those stored for it are removed, and this one is entered again.  If no
 * frame is left, another interpreter may have called it.
 */
static enum python_step enter(struct walk *walk, struct mem *mem, u64 sp, u64 cfa)
{
	struct python_scratch *scratch = walk->python;
	const enum python_step step = python_enter(mem, &scratch->walk, sp, cfa);
	const u32 behind = scratch->doubtful_at + scratch->doubtful_count;

	if (step != PYTHON_STRAY || scratch->doubtful_count == 0 || scratch->activations != 2 ||
	    scratch->walk.has_ended)
		return step;
	for (u32 i = behind; i < walk->count; i++)
		walk->frames[i - scratch->doubtful_count] = walk->frames[i];
	walk->count -= scratch->doubtful_count;
	if (python_pass(mem, &scratch->walk) < 0)
		return PYTHON_STRAY;
	return python_enter(mem, &scratch->walk, sp, cfa);
}

/*
 * Passes an activation whose frames do not fit.  One that was itself interrupted may be setting up
 * its frame, or have removed it: then it has none.
 */
static void pass(struct walk *walk, struct mem *mem, enum python_step step, bool is_exact)
{
	struct python_scratch *scratch = walk->python;
	const bool may_be_half_made = is_exact && scratch->activations == 1;

	if (!may_be_half_made)
		fail(scratch,
		     step == PYTHON_STRAY ? WALK_CODE_UNMATCHED : WALK_CODE_UNREADABLE);
	if (python_pass(mem, &scratch->walk) < 0)
		give_up(scratch, WALK_CODE_UNMATCHED);
}

/*
 * Stores the frames of an activation of another interpreter of the process, if they are found: this
 * thread has a state in each interpreter in which it executes something.
 */
static bool put_others_frames(struct walk *walk, struct mem *mem, u64 sp, u64 cfa,
			      struct python_frame *out_innermost)
{
	struct python_scratch *scratch = walk->python;
	const u32 before = walk->count;
	u64 state = scratch->walk.state;
	const u64 known = state;

	if (!python_has_interpreters(mem, scratch->layout))
		return false;
	scratch->left = scratch->walk;
	for (u32 i = 0; i < MOST_STATES && state != 0; i++) {
		state = python_list_state(mem, scratch->layout, i);
		if (state == known || state == 0 ||
		    python_begin(mem, scratch->layout, state, scratch->left.distance,
				 &scratch->walk) < 0)
			continue;
		if (put_frames(walk, mem, python_enter(mem, &scratch->walk, sp, cfa),
			       out_innermost) == PYTHON_END &&
		    walk->count > before)
			return true;
		walk->count = before;
	}
	scratch->walk = scratch->left;
	return false;
}

/* Stores the frames of an activation; returns how that ended. */
static enum python_step put_activation(struct walk *walk, struct mem *mem, u64 sp, u64 cfa,
				       struct python_frame *out_innermost)
{
	const enum python_step entered = enter(walk, mem, sp, cfa);
	const u64 met = walk->regions.met;
	enum python_step step;

	walk->python->frames_at = walk->count;
	step = put_frames(walk, mem, entered, out_innermost);
	if (step == PYTHON_END)
		return step;
	walk->count = walk->python->frames_at;
	walk->regions.met = met;
	if ((step == PYTHON_STRAY || step == PYTHON_NONE) &&
	    put_others_frames(walk, mem, sp, cfa, out_innermost))
		return PYTHON_END;
	return step;
}

/* Stores an activation's frames by address, and the C function that its innermost one calls. */
static void put_by_address(struct walk *walk, struct mem *mem, u64 sp, u64 cfa, bool is_exact)
{
	struct python_scratch *scratch = walk->python;
	struct python_frame innermost = { 0 };
	const enum python_step step = put_activation(walk, mem, sp, cfa, &innermost);
	const u32 loop = scratch->frames_at - 1;

	if (step == PYTHON_STRAY || step == PYTHON_BROKEN)
		pass(walk, mem, step, is_exact);
	if (step != PYTHON_END)
		return;
	if (scratch->walk.distance != 0)
		__atomic_store_n(&known_distance, scratch->walk.distance, __ATOMIC_RELAXED);
	if (is_exact && scratch->activations == 1) {
		scratch->doubtful_at = scratch->frames_at;
		scratch->doubtful_count = walk->count - scratch->frames_at;
	}
	if (!is_exact && walk->count > scratch->frames_at)
		insert_before(walk, loop, python_name_callee(walk, mem, &innermost, loop));
}

bool python_put_activation(struct walk *walk, struct mem *mem, u64 sp, u64 cfa, bool is_exact)
{
	struct python_scratch *scratch = walk->python;

	if (scratch->activations++ == 0)
		begin(walk, mem);
	if (scratch->has_given_up)
		return true;
	if (scratch->layout->chain == PYTHON_CHAIN_OBJECTS) {
		walk_push(walk, PYTHON_PLACE_OF_FRAME);
		walk_push(walk, PYTHON_PLACE_OF_FRAME);
		return true;
	}
	if (scratch->walk.has_ended && !python_has_interpreters(mem, scratch->layout)) {
		walk->count--;
		return false;
	}
	put_by_address(walk, mem, sp, cfa, is_exact);
	return true;
}

/* How many frames there are from here on outwards; MOST_OBJECTS if there is no end to them. */
static u32 count_objects(struct mem *mem, const struct python_scratch *scratch, u64 frame)
{
	struct python_walk walk = scratch->walk;
	u32 count = 0;

	walk.frame = frame;

	while (walk.frame != 0 && count < MOST_OBJECTS) {
		if (python_object_pass(mem, &walk) < 0)
			return MOST_OBJECTS;
		count++;
	}
	return count;
}

/* Stores the words of the next frame; its activation's native frame was stored last. */
static void fill_place(struct walk *walk, struct mem *mem)
{
	struct python_scratch *scratch = walk->python;
	struct python_frame frame;
	u64 word = 0;

	if (scratch->walk.frame == 0) {
		scratch->walk.frame = scratch->caller;
		scratch->caller = 0;
	}
	if (!scratch->has_given_up &&
	    python_object_next(mem, &scratch->walk, &frame) == PYTHON_FRAME)
		word = python_name_frame(walk, mem, &frame);
	if (word == 0) {
		give_up(scratch, WALK_CODE_UNREADABLE);
		return;
	}
	if (walk->count > 0)
		insert_before(walk, walk->count - 1,
			      python_name_callee(walk, mem, &frame, walk->count - 1));
	if (walk->regions.regions != NULL)
		regions_meet_python(walk, frame.address, frame.code);
	walk_push(walk, word);
}

/*
 * Puts frames into the places that were kept for them, but none into the first `skipped` ones.
 * Without frames the places are removed.
 */
static void fill_places(struct walk *walk, struct mem *mem, u32 skipped, bool has_frames)
{
	const u32 stored = walk->count;

	walk->count = 0;
	for (u32 i = 0; i < stored; i++) {
		if (walk->frames[i] != PYTHON_PLACE_OF_FRAME) {
			walk->frames[walk->count++] = walk->frames[i];
			continue;
		}
		/* The second word of the place may be written over. */
		if (i + 1 < stored && walk->frames[i + 1] == PYTHON_PLACE_OF_FRAME)
			i++;
		if (skipped > 0)
			skipped--;
		else if (has_frames)
			fill_place(walk, mem);
	}
}

/* Whether there is a frame for each activation, or for each but the innermost. */
static bool has_frames_for_all(const struct python_scratch *scratch, u32 frames)
{
	return scratch->activations == frames || scratch->activations == frames + 1;
}

/*
 * A thread that executes something in a sub-interpreter has a state and frames there and in the
 * interpreter that called it.  The list begins with the newest interpreter, and the main one is
 * never called by another.  Of three with frames the order is not known.
 */
static u32 count_in_interpreters(struct mem *mem, struct python_scratch *scratch)
{
	u64 firsts[2] = { 0 };
	u32 count = 0;

	for (u32 i = 0;; i++) {
		const u64 state = python_list_state(mem, scratch->layout, i);
		u64 frame;

		if (state == 0)
			break;
		if (python_read(mem, &frame, state, scratch->layout->offsets.state_frame) < 0)
			return MOST_OBJECTS;
		if (frame == 0)
			continue;
		if (count == sizeof firsts / sizeof *firsts)
			return MOST_OBJECTS;
		firsts[count++] = frame;
	}
	scratch->walk.frame = firsts[0];
	scratch->caller = firsts[1];
	return count_objects(mem, scratch, firsts[0]) + count_objects(mem, scratch, firsts[1]);
}

static void end_objects(struct walk *walk, struct mem *mem)
{
	struct python_scratch *scratch = walk->python;
	bool has_frames = false;
	u32 frames = 0;

	scratch->caller = 0;
	if (walk->status == WALK_COMPLETE && !scratch->has_given_up) {
		frames = count_objects(mem, scratch, scratch->walk.frame);
		if (!has_frames_for_all(scratch, frames) &&
		    python_has_interpreters(mem, scratch->layout))
			frames = count_in_interpreters(mem, scratch);
		has_frames = has_frames_for_all(scratch, frames);
	}
	if (!has_frames)
		fail(scratch, WALK_CODE_UNMATCHED);
	fill_places(walk, mem, has_frames ? scratch->activations - frames : 0, has_frames);
}

void python_end_walk(struct walk *walk, struct mem *mem)
{
	struct python_scratch *scratch = walk->python;

	if (scratch->activations == 0)
		return;
	if (scratch->layout->chain == PYTHON_CHAIN_OBJECTS)
		end_objects(walk, mem);
	else if (walk->status == WALK_COMPLETE && !scratch->has_given_up &&
		 !python_is_over(&scratch->walk))
		fail(scratch, WALK_CODE_UNMATCHED);
	if (walk->status == WALK_COMPLETE ||
	    (walk->status == WALK_SWITCHED && scratch->status != WALK_COMPLETE))
		walk->status = scratch->status;
	if (walk->status == WALK_COMPLETE)
		python_name_thread(walk, mem);
}
