#include "vantage/agent/python.h"

#include "vantage/agent/agent.h"
#include "vantage/agent/arch.h"
#include "vantage/agent/builtins.h"
#include "vantage/agent/codes.h"
#include "walk/python_builtin.h"
#include "walk/python_code.h"

/*
 * Stands twice for the frame of an activation, and the C function that it calls, until it is
 * known which: no key is 0.
 */
#define PLACE_OF_FRAME RING_INTERPRETED
/* 2.7 to 3.10: frames that are counted. */
#define MOST_OBJECTS 65536U
/* A C function is that near to the loop that calls it: helpers of the interpreter come between. */
#define NEAR_FRAMES 4
/* Interpreters, and threads of one, that are looked through. */
#define MOST_INTERPRETERS 64U
#define MOST_THREADS      4096U

/* struct python_walk, distance: the build's, so that one walk's is the next one's. */
static u64 known_distance;

void python_begin_walk(struct python_room *room, struct ring_header *ring)
{
	/* Pairs with the release in the recorder: the layout is whole when this is seen. */
	const bool has_python = __atomic_load_n(&ring->has_python, __ATOMIC_ACQUIRE) == 1;

	room->layout = has_python && ring->python.chain != 0 ? &ring->python : NULL;
	room->activations = 0;
	room->doubtful_count = 0;
	room->status = WALK_COMPLETE;
	room->has_given_up = false;
}

static void fail(struct python_room *room, enum walk_status status)
{
	if (room->status == WALK_COMPLETE)
		room->status = (u8)status;
}

static void give_up(struct python_room *room, enum walk_status status)
{
	fail(room, status);
	room->has_given_up = true;
}

/* The state of this thread among those of one interpreter; 0: none. */
static u64 state_in(struct mem *mem, const struct python_layout *layout, u64 interpreter)
{
	u64 state;

	if (python_read(mem, &state, interpreter, layout->offsets.interp_threads) < 0)
		return 0;
	for (u32 i = 0; i < MOST_THREADS && state != 0; i++) {
		if (python_is_state(mem, layout, state, arch_thread_pointer()))
			return state;
		if (python_read(mem, &state, state, layout->offsets.state_next) < 0)
			return 0;
	}
	return 0;
}

static u64 first_interpreter(const struct python_layout *layout)
{
	/* Returns the value of a variable, in every version. */
	void *(*const head)(void) = (void *(*)(void))layout->head_function;

	return layout->head_function != 0 ? (u64)head() : 0;
}

/* A state of this thread in an interpreter other than that of `known`, or of any if that is 0. */
static u64 state_by_list(struct mem *mem, const struct python_layout *layout, u64 known)
{
	u64 interpreter = first_interpreter(layout);

	for (u32 i = 0; i < MOST_INTERPRETERS && interpreter != 0; i++) {
		const u64 state = state_in(mem, layout, interpreter);

		if (state != 0 && state != known)
			return state;
		if (python_read(mem, &interpreter, interpreter, layout->offsets.interp_next) <
		    0)
			return 0;
	}
	return 0;
}

/* A thread-local variable of a module that came later: where the thread has the module's block. */
static u64 state_by_dtv(struct mem *mem, const struct python_layout *layout)
{
	u64 module, blocks, block, state;

	if (mem_read(mem, &module, sizeof module, layout->state_module) < 0 ||
	    mem_read(mem, &blocks, sizeof blocks, arch_thread_pointer() + ARCH_DTV_OFFSET) <
		    0 ||
	    mem_read(mem, &block, sizeof block, blocks + module * ARCH_DTV_ENTRY) < 0 ||
	    mem_read(mem, &state, sizeof state, block + layout->state_place) < 0)
		return 0;
	return state;
}

/*
 * The state by which this thread is known whether it holds the GIL or not
 * (PyGILState_GetThisThreadState()); 0: it has none.
 */
static u64 find_state(struct mem *mem, const struct python_layout *layout)
{
	void *(*const get)(void) = (void *(*)(void))layout->state_function;
	u64 state = 0;

	switch (layout->state_means) {
	case PYTHON_STATE_BY_CALL:
		return layout->state_function != 0 ? (u64)get() : 0;
	case PYTHON_STATE_BY_LIST:
		return state_by_list(mem, layout, 0);
	case PYTHON_STATE_BY_TLS:
		if (mem_read(mem, &state, sizeof state,
			     arch_thread_pointer() + layout->state_place) < 0)
			return 0;
		return state;
	case PYTHON_STATE_BY_DTV:
		return state_by_dtv(mem, layout);
	default:
		return 0;
	}
}

/* At the first activation of a walk. */
static void begin(struct walk *walk, struct mem *mem)
{
	struct python_room *room = walk->python;
	const u64 state = find_state(mem, room->layout);

	for (u32 i = 0; i < PYTHON_MEMO; i++)
		room->memo[i].code = 0;
	if (state == 0) {
		give_up(room, WALK_CODE_UNMATCHED);
		return;
	}
	__atomic_fetch_add(&walk->ring->python_walks, 1, __ATOMIC_RELAXED);
	if (!python_is_state(mem, room->layout, state, arch_thread_pointer()) ||
	    python_begin(mem, room->layout, state,
			 __atomic_load_n(&known_distance, __ATOMIC_RELAXED), &room->walk) < 0) {
		__atomic_fetch_add(&walk->ring->python_refusals, 1, __ATOMIC_RELAXED);
		give_up(room, WALK_CODE_UNREADABLE);
	}
}

/* Tells the recorder of a code object. */
static bool tell_code(struct walk *walk, struct mem *mem, u64 key,
		      const struct python_code *parts)
{
	struct python_room *room = walk->python;
	const struct python_layout *layout = room->layout;
	struct code code = {
		.key = key,
		.table_at = parts->table + layout->offsets.bytes_data,
		.first_line = parts->first_line,
		.kind = RING_CODE_PYTHON,
		.table = layout->table,
		.name = &room->texts[0],
		.qualified = &room->texts[1],
		.file = &room->texts[2],
	};

	python_text_read(mem, layout, parts->name, &room->texts[0]);
	python_text_read(mem, layout, parts->qualified_name, &room->texts[1]);
	python_text_read(mem, layout, parts->file, &room->texts[2]);
	if (python_read(mem, &code.table_length, parts->table, layout->offsets.bytes_length) <
	    0)
		code.table_length = 0;
	return codes_send(walk->ring, walk->epoch, mem, &code);
}

/* The key of a code object, of which the recorder knows then; 0 if it cannot be read. */
static u64 key_of(struct walk *walk, struct mem *mem, u64 code)
{
	struct python_room *room = walk->python;
	const u32 slot = (u32)(code * 0x9e3779b97f4a7c15ULL >> 58) % PYTHON_MEMO;
	struct python_code parts;

	if (room->memo[slot].code == code)
		return room->memo[slot].key;
	if (python_code_read(mem, room->layout, code, &parts) < 0)
		return 0;
	const u64 key = python_code_key(mem, room->layout, code, &parts);

	/* A stack whose names could not be sent is not sent either. */
	if (!codes_has_sent(key, walk->epoch) && !tell_code(walk, mem, key, &parts))
		walk->is_lost = true;
	room->memo[slot].code = code;
	room->memo[slot].key = key;
	return key;
}

/* 0: its code cannot be read. */
static u64 word_of(struct walk *walk, struct mem *mem, const struct python_frame *frame)
{
	const u64 key = key_of(walk, mem, frame->code);

	return key != 0 ? python_word(key, frame->instruction) : 0;
}

/* The native frames that an activation executes, from the loop's word inwards. */
static u32 near_frames(const struct walk *walk, u32 loop, u64 addresses[NEAR_FRAMES])
{
	u32 count = 0;

	while (loop > 0 && count < NEAR_FRAMES) {
		const u64 word = walk->frames[--loop];

		if (word & RING_INTERPRETED)
			return count;
		addresses[count++] = word;
	}
	if (loop == 0 && count < NEAR_FRAMES)
		addresses[count++] = walk->leaf;
	return count;
}

static bool is_same(const struct python_builtin *a, const struct python_builtin *b)
{
	return a->name == b->name && a->function == b->function && a->module == b->module &&
	       a->type == b->type;
}

/* Looking for the callable whose code is executed nearest to the loop. */
struct search {
	u64 near[NEAR_FRAMES];
	u32 count;
	u32 best; /* index of the nearest so far; count: none */
	bool is_top_known;
	bool is_doubtful; /* another one shares that code */
	struct python_builtin found;
};

/* One object of the stack, from the top. */
static void look_at(struct walk *walk, struct mem *mem, struct search *search, u64 object)
{
	const u32 limit = search->best < search->count ? search->best + 1 : search->count;
	struct python_builtin builtin;

	if (python_builtin_read(mem, walk->python->layout, object, &builtin) < 0)
		return;
	const u32 at = builtins_find(mem, walk->rules, builtin.function, search->near, limit);

	if (at == limit)
		return;
	if (at < search->best) {
		search->best = at;
		search->found = builtin;
		search->is_doubtful = false;
	} else if (!search->is_top_known && !is_same(&builtin, &search->found)) {
		/* Which of them is the upper one? Behind the top, stale ones may lie. */
		search->is_doubtful = true;
	}
}

/*
 * The C function that the frame has called and that the frames before word number `loop` belong
 * to; false if it cannot be told.
 */
static bool find_builtin(struct walk *walk, struct mem *mem, const struct python_frame *frame,
			 u32 loop, struct python_builtin *out_builtin)
{
	const struct python_layout *layout = walk->python->layout;
	struct search search;
	struct python_slots slots;
	u64 object;

	search.count = near_frames(walk, loop, search.near);
	search.best = search.count;
	search.is_top_known = layout->offsets.frame_stack != PYTHON_NO_FIELD;
	search.is_doubtful = false;
	if (python_slots_of(mem, layout, frame, &slots) < 0)
		return false;
	for (u32 i = 0; i < PYTHON_SLOTS_MAX && slots.end > slots.begin; i++) {
		slots.end -= sizeof object;
		if (mem_read(mem, &object, sizeof object, slots.end) >= 0 && object != 0)
			look_at(walk, mem, &search, object & ~PYTHON_REFERENCE_MARKS);
	}
	*out_builtin = search.found;
	return search.best < search.count && !search.is_doubtful;
}

static bool tell_builtin(struct walk *walk, struct mem *mem, u64 key,
			 const struct python_builtin *builtin)
{
	struct python_text *texts = walk->python->texts;
	const struct code code = {
		.key = key,
		.kind = RING_CODE_PYTHON_BUILTIN,
		.name = &texts[0],
		.qualified = &texts[1],
		.file = &texts[2],
	};

	texts[2].length = 0;
	texts[2].is_cut = 0;
	python_builtin_texts(mem, walk->python->layout, builtin, &texts[0], &texts[1]);
	return codes_send(walk->ring, walk->epoch, mem, &code);
}

/* The word for the C function that a frame has called; 0 if there is none, or none is known. */
static u64 builtin_of(struct walk *walk, struct mem *mem, const struct python_frame *frame,
		      u32 loop)
{
	struct python_builtin builtin;

	if (!find_builtin(walk, mem, frame, loop, &builtin))
		return 0;
	const u64 key = python_builtin_key(mem, walk->python->layout, &builtin);

	if (!codes_has_sent(key, walk->epoch) && !tell_builtin(walk, mem, key, &builtin))
		walk->is_lost = true;
	return python_word(key, PYTHON_NO_INSTRUCTION);
}

/* Stores the frames of the activation that was entered, and says how that ended. */
static enum python_step put_frames(struct walk *walk, struct mem *mem, enum python_step step,
				   struct python_frame *out_innermost)
{
	const u32 before = walk->count;
	struct python_frame frame;

	for (u32 i = 0; i < 2 * AGENT_MAX_FRAMES; i++) {
		if (step != PYTHON_FRAME && step != PYTHON_SKIP)
			return step;
		step = python_next(mem, &walk->python->walk, &frame);
		if (step != PYTHON_FRAME)
			continue;
		const u64 word = word_of(walk, mem, &frame);

		if (word == 0)
			return PYTHON_BROKEN;
		if (walk->count == before)
			*out_innermost = frame;
		if (!unwind_push(walk, word))
			return PYTHON_END;
	}
	return PYTHON_BROKEN;
}

/* Puts a word before that of an activation's native frame; behind this are its Python frames. */
static void insert_before(struct walk *walk, u32 loop, u64 word)
{
	if (word == 0 || !unwind_push(walk, 0))
		return;
	for (u32 i = walk->count - 1; i > loop; i--)
		walk->frames[i] = walk->frames[i - 1];
	walk->frames[loop] = word;
}

/*
 * Enters an activation.  The frame that called the one before is no frame of this: if that one
 * was half made it had none.
 */
static enum python_step enter(struct walk *walk, struct mem *mem, u64 sp, u64 cfa)
{
	struct python_room *room = walk->python;
	const enum python_step step = python_enter(mem, &room->walk, sp, cfa);
	const u32 behind = room->doubtful_at + room->doubtful_count;

	if (step != PYTHON_STRAY || room->doubtful_count == 0 || room->activations != 2)
		return step;
	for (u32 i = behind; i < walk->count; i++)
		walk->frames[i - room->doubtful_count] = walk->frames[i];
	walk->count -= room->doubtful_count;
	if (python_pass(mem, &room->walk) < 0)
		return PYTHON_STRAY;
	return python_enter(mem, &room->walk, sp, cfa);
}

/*
 * An activation whose frames are not what they should be.  One that was interrupted itself may be
 * setting up what tells of them, or have torn it down: then it has none.
 */
static void pass(struct walk *walk, struct mem *mem, enum python_step step, bool is_exact)
{
	struct python_room *room = walk->python;
	const bool may_be_half_made = is_exact && room->activations == 1;

	if (!may_be_half_made)
		fail(room, step == PYTHON_STRAY ? WALK_CODE_UNMATCHED : WALK_CODE_UNREADABLE);
	if (python_pass(mem, &room->walk) < 0)
		give_up(room, WALK_CODE_UNMATCHED);
}

void python_put_activation(struct walk *walk, struct mem *mem, u64 sp, u64 cfa, bool is_exact)
{
	struct python_room *room = walk->python;
	struct python_frame innermost;
	u32 before;

	if (room->activations++ == 0)
		begin(walk, mem);
	if (room->has_given_up)
		return;
	if (room->layout->chain == PYTHON_CHAIN_OBJECTS) {
		unwind_push(walk, PLACE_OF_FRAME);
		unwind_push(walk, PLACE_OF_FRAME);
		return;
	}
	const enum python_step entered = enter(walk, mem, sp, cfa);

	before = walk->count;
	const enum python_step step = put_frames(walk, mem, entered, &innermost);

	if (step != PYTHON_END)
		walk->count = before;
	if (!is_exact && walk->count > before)
		insert_before(walk, before - 1, builtin_of(walk, mem, &innermost, before - 1));
	if (is_exact && room->activations == 1) {
		room->doubtful_at = before;
		room->doubtful_count = walk->count - before;
	}
	if (step == PYTHON_STRAY || step == PYTHON_BROKEN)
		pass(walk, mem, step, is_exact);
	else if (step == PYTHON_END && room->walk.distance != 0)
		__atomic_store_n(&known_distance, room->walk.distance, __ATOMIC_RELAXED);
}

/* How many frames there are from here on outwards; MOST_OBJECTS if there is no end to them. */
static u32 count_objects(struct mem *mem, struct python_walk walk)
{
	u32 count = 0;

	while (walk.frame != 0 && count < MOST_OBJECTS) {
		if (python_object_pass(mem, &walk) < 0)
			return MOST_OBJECTS;
		count++;
	}
	return count;
}

/* The words of the next frame, where its activation's native frame is the last that is stored. */
static void fill_place(struct walk *walk, struct mem *mem)
{
	struct python_room *room = walk->python;
	struct python_frame frame;
	u64 word = 0;

	if (!room->has_given_up && python_object_next(mem, &room->walk, &frame) == PYTHON_FRAME)
		word = word_of(walk, mem, &frame);
	if (word == 0) {
		give_up(room, WALK_CODE_UNREADABLE);
		return;
	}
	if (walk->count > 0)
		insert_before(walk, walk->count - 1,
			      builtin_of(walk, mem, &frame, walk->count - 1));
	unwind_push(walk, word);
}

/*
 * Puts frames where their places are kept: none in the first `skipped` of them.  Without frames
 * the places go.
 */
static void fill_places(struct walk *walk, struct mem *mem, u32 skipped, bool has_frames)
{
	const u32 stored = walk->count;

	walk->count = 0;
	for (u32 i = 0; i < stored; i++) {
		if (walk->frames[i] != PLACE_OF_FRAME) {
			walk->frames[walk->count++] = walk->frames[i];
			continue;
		}
		/* The second word of the place may be written over. */
		if (i + 1 < stored && walk->frames[i + 1] == PLACE_OF_FRAME)
			i++;
		if (skipped > 0)
			skipped--;
		else if (has_frames)
			fill_place(walk, mem);
	}
}

/* One frame for each activation, or the innermost has none. */
static void end_objects(struct walk *walk, struct mem *mem)
{
	struct python_room *room = walk->python;
	u32 skipped = 0;
	bool has_frames = false;

	if (walk->ending == WALK_COMPLETE && !room->has_given_up) {
		const u32 frames = count_objects(mem, room->walk);

		skipped = room->activations == frames + 1;
		has_frames = room->activations == frames + skipped;
	}
	if (!has_frames)
		fail(room, WALK_CODE_UNMATCHED);
	fill_places(walk, mem, skipped, has_frames);
}

void python_end_walk(struct walk *walk, struct mem *mem)
{
	struct python_room *room = walk->python;

	if (room->activations == 0)
		return;
	if (room->layout->chain == PYTHON_CHAIN_OBJECTS)
		end_objects(walk, mem);
	else if (walk->ending == WALK_COMPLETE && !room->has_given_up &&
		 !python_is_over(&room->walk))
		fail(room, WALK_CODE_UNMATCHED);
	if (walk->ending == WALK_COMPLETE)
		walk->ending = room->status;
}
