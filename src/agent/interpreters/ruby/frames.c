#include "agent/interpreters/ruby/frames.h"

#include "abi/ring.h"
#include "agent/core/regions.h"
#include "agent/core/walk.h"
#include "agent/interpreters/ruby/names.h"
#include "agent/interpreters/ruby/scratch.h"
#include "walk/code_key.h"
#include "walk/ruby.h"

/* The first version whose collector does not move pc for its hooks. */
#define RUBY_PC_LEFT_ALONE 0x030400

/* Reserves two words that are chosen later: the leaf's, and the frame's. */
static void push_top(struct ruby_frames *frames)
{
	ruby_stack_push(&frames->stack, 0, RUBY_WORD_IS_C);
	ruby_stack_push(&frames->stack, 0, 0);
	frames->has_top = true;
}

/* Marks the frame that was stored last as the last of its activation. */
static void mark_last(struct ruby_stack *stack)
{
	if (stack->count == 0 || stack->flags[stack->count - 1] & RUBY_WORD_IS_LAST)
		return;
	stack->flags[stack->count - 1] |= RUBY_WORD_IS_LAST;
	stack->activations++;
}

/* Stores a frame other than the innermost; false if it cannot be named. */
static bool push_frame(struct walk *walk, struct mem *mem, const struct ruby_frame *frame)
{
	struct ruby_stack *stack = &walk->ruby->frames.stack;
	u64 word = 0;

	if (walk->regions.regions != NULL)
		word = regions_meet_ruby(walk, frame->address);
	if (word == 0)
		word = ruby_name_frame(walk, mem, frame, false);
	if (word == 0)
		return false;
	ruby_stack_push(stack, word, frame->kind == RUBY_FRAME_C ? RUBY_WORD_IS_C : 0);
	return true;
}

static void begin_top(struct walk *walk, struct mem *mem, struct ruby_frame *frame,
		      enum ruby_top top)
{
	struct ruby_frames *frames = &walk->ruby->frames;
	const struct ruby_layout *layout = walk->ruby->layout;

	if (top == RUBY_TOP_IN_HOOK && layout->version < RUBY_PC_LEFT_ALONE &&
	    frame->pc > frame->encoded)
		frame->pc -= sizeof(u64);
	frames->top = *frame;
	ruby_leaves_read(mem, layout, frame, &frames->leaves);
	push_top(frames);
}

/* Stores one control frame, if it has a word; false if it cannot be named. */
static bool take_frame(struct walk *walk, struct mem *mem, struct ruby_frame *frame,
		       bool is_innermost, enum ruby_top top)
{
	struct ruby_stack *stack = &walk->ruby->frames.stack;

	if (frame->kind == RUBY_FRAME_ISEQ && is_innermost)
		begin_top(walk, mem, frame, top);
	else if ((frame->kind == RUBY_FRAME_ISEQ || frame->kind == RUBY_FRAME_C) &&
		 !frame->is_repeated && !push_frame(walk, mem, frame))
		return false;
	if (frame->is_last)
		mark_last(stack);
	return true;
}

bool ruby_frames_read(struct walk *walk, struct mem *mem, enum ruby_top top)
{
	struct ruby_frames *frames = &walk->ruby->frames;
	struct ruby_frame frame = { 0 };
	enum ruby_step step;

	frames->stack.first = frames->stack.count = frames->stack.activations = 0;
	frames->stack.is_full = false;
	frames->has_top = false;
	if (ruby_begin(mem, walk->ruby->layout, walk->ruby->context, &frames->walk) < 0)
		return false;
	frames->innermost = frames->walk.next;
	ruby_names_begin(walk, mem);
	for (u32 i = 0; !frames->stack.is_full; i++) {
		step = ruby_next(mem, &frames->walk, &frame);
		if (step != RUBY_FRAME)
			return step == RUBY_END;
		if (!take_frame(walk, mem, &frame, i == 0, top))
			return false;
	}
	return true;
}

static void name_top(struct walk *walk, struct mem *mem, const struct ruby_leaf *leaf)
{
	struct ruby_frames *frames = &walk->ruby->frames;
	const u32 i = leaf->stands_at;

	frames->leaf_words[i] = ruby_name_leaf(walk, mem, leaf);
	frames->top_words[i] = ruby_name_frame(walk, mem, &frames->top, leaf->stands_at);
}

void ruby_frames_name_top(struct walk *walk, struct mem *mem)
{
	const struct ruby_frames *frames = &walk->ruby->frames;

	if (!frames->has_top)
		return;
	name_top(walk, mem, &frames->leaves.before);
	name_top(walk, mem, &frames->leaves.at);
}

/* Whether pc is out of date: machine code made of a method stores it only for calls. */
static bool has_old_pc(const struct ruby_frames *frames, u64 core)
{
	return frames->top.is_jitted && core == 0;
}

/* Stores the chosen words; false if the innermost frame has none. */
static bool store_top(struct ruby_frames *frames, const struct ruby_leaf *leaf, u64 core)
{
	const u32 i = leaf->stands_at;
	const bool is_doing = core != 0 && frames->leaf_words[i] != 0;

	if (frames->top_words[i] == 0)
		return false;
	frames->stack.first = is_doing ? 0 : 1;
	frames->stack.words[0] = frames->leaf_words[i];
	frames->stack.words[1] = frames->top_words[i];
	if (has_old_pc(frames, core))
		frames->stack.words[1] |= RING_NO_INSTRUCTION;
	return true;
}

bool ruby_frames_choose(struct walk *walk, struct mem *mem, u64 core)
{
	struct ruby_frames *frames = &walk->ruby->frames;

	if (!frames->has_top)
		return true;
	const struct ruby_leaf *leaf =
		ruby_leaves_choose(walk->ruby->layout, &frames->leaves, core);

	name_top(walk, mem, leaf);
	return store_top(frames, leaf, core);
}

bool ruby_frames_choose_named(const struct ruby_layout *layout, struct ruby_frames *frames,
			      u64 core)
{
	return !frames->has_top ||
	       store_top(frames, ruby_leaves_choose(layout, &frames->leaves, core), core);
}
