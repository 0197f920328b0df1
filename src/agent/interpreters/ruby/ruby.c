#include "agent/interpreters/ruby/ruby.h"

#include "abi/ring.h"
#include "agent/core/own_process.h"
#include "agent/core/arch.h"
#include "agent/core/memory.h"
#include "agent/core/thread_name.h"
#include "agent/core/walk.h"
#include "agent/interpreters/layouts.h"
#include "agent/interpreters/place.h"
#include "agent/interpreters/ruby/api.h"
#include "agent/interpreters/ruby/collector.h"
#include "agent/interpreters/ruby/frames.h"
#include "agent/interpreters/ruby/names.h"
#include "agent/interpreters/ruby/state.h"
#include "walk/ruby.h"
#include "walk/ruby_text.h"

_Static_assert(RUBY_MAX_FRAMES == WALK_MAX_FRAMES, "a stack of Ruby's alone has room");

/* How many characters of a thread's name the kernel keeps (TASK_COMM_LEN). */
#define KERNEL_NAME_MAX 15

static struct interpreter_place place;

void ruby_begin_walk(struct ruby_scratch *scratch, struct ring_header *ring, struct mem *mem)
{
	const struct ruby_layout *layout = layouts_ruby(ring);

	scratch->layout =
		layout != NULL &&
				__atomic_load_n(&ring->ruby_check, __ATOMIC_RELAXED) !=
					RING_RUBY_DIFFERS &&
				interpreter_is_loaded(&place, mem, layout->loop[0].start,
						      layout->load_bias)
			? layout
			: NULL;
	scratch->activations = 0;
	scratch->core = 0;
}

void ruby_meet(struct walk *walk, u64 address)
{
	struct ruby_scratch *scratch = walk->ruby;

	if (code_ranges_have(scratch->layout->core, address)) {
		if (scratch->activations == 0 && scratch->core == 0)
			scratch->core = address;
		return;
	}
	scratch->activations++;
	walk_push(walk, RUBY_MARK);
}

/*
 * Whether the thread is on the native stack of its context.  While fibers are switched it is on
 * another's, and in Ruby's handler of SIGSEGV on an alternate one.
 */
static bool is_on_own_stack(struct mem *mem, const struct walk *walk)
{
	struct code_range stack;

	return ruby_find_machine_stack(mem, walk->ruby->layout, walk->ruby->context, &stack) &&
	       walk->sp >= stack.start && walk->sp < stack.end;
}

static void clear_frames(struct ruby_frames *frames)
{
	frames->stack.first = frames->stack.count = frames->stack.activations = 0;
	frames->stack.is_full = false;
	frames->has_top = false;
}

/*
 * During a collection: the frames that were read before it, if it is this thread's.  NULL: there
 * are none, and the heap may not be read for others.
 */
static struct ruby_frames *frames_before_collection(struct walk *walk, struct mem *mem)
{
	struct ruby_scratch *scratch = walk->ruby;
	struct ruby_frames *frames;
	struct ruby_walk now;

	if (ruby_collector_is_here() || !ruby_collector_is_installed())
		scratch->collection = ruby_name_collection(walk, mem, scratch->objspace_flags);
	if (!ruby_collector_is_here() ||
	    ruby_begin(mem, scratch->layout, scratch->context, &now) < 0)
		return NULL;
	frames = ruby_collector_frames(scratch->context, now.next, walk->epoch);
	return frames != NULL &&
			       ruby_frames_choose_named(scratch->layout, frames, scratch->core)
		       ? frames
		       : NULL;
}

/* Whether the heap may be read: another thread may be collecting, but not moving objects. */
static bool may_read_heap(const struct ruby_scratch *scratch)
{
	const u32 flags = scratch->objspace_flags;

	if (ruby_is_compacting(scratch->layout, flags))
		return false;
	return !(flags & RUBY_OBJSPACE_DURING_GC) ||
	       (ruby_collector_is_installed() && !ruby_collector_is_here());
}

/* Whether the innermost control frame is the base of its stack: the thread executes no Ruby. */
static bool is_at_base(const struct ruby_scratch *scratch, struct mem *mem)
{
	struct ruby_walk base;

	return scratch->activations == 0 &&
	       ruby_begin(mem, scratch->layout, scratch->context, &base) >= 0 &&
	       base.end - base.next <= scratch->layout->offsets.frame_size;
}

/* The thread's Ruby frames, of which there may be none; *out_status: whether all were read. */
static const struct ruby_stack *read_frames(struct walk *walk, struct mem *mem,
					    enum walk_status *out_status)
{
	struct ruby_scratch *scratch = walk->ruby;
	struct ruby_frames *frames = &scratch->frames;

	clear_frames(frames);
	*out_status = WALK_CODE_UNMATCHED;
	if (scratch->context == 0)
		return &frames->stack;
	*out_status = WALK_CODE_UNREADABLE;
	if (!ruby_is_context(mem, scratch->layout, scratch->context, arch_thread_pointer())) {
		/* A thread that begins or ends has no stack, and executes nothing. */
		if (scratch->activations == 0)
			*out_status = WALK_COMPLETE;
		else
			__atomic_fetch_add(&walk->ring->ruby_refusals, 1, __ATOMIC_RELAXED);
		return &frames->stack;
	}
	__atomic_fetch_add(&walk->ring->ruby_walks, 1, __ATOMIC_RELAXED);
	scratch->objspace_flags = ruby_objspace_flags(mem, scratch->layout, scratch->context);
	if (!may_read_heap(scratch)) {
		struct ruby_frames *const before = frames_before_collection(walk, mem);

		if (before == NULL) {
			/* At Ruby's end an object space that was freed may seem to compact. */
			if (is_at_base(scratch, mem))
				*out_status = WALK_COMPLETE;
			return &frames->stack;
		}
		frames = before;
	} else if (!ruby_frames_read(walk, mem, RUBY_TOP_AS_IT_IS) ||
		   !ruby_frames_choose(walk, mem, scratch->core)) {
		/* The innermost ones alone would seem to have no caller. */
		clear_frames(frames);
		return &frames->stack;
	}
	*out_status = WALK_COMPLETE;
	return &frames->stack;
}

/* The status of a stack whose Ruby frames are complete. */
static enum walk_status status_of(const struct walk *walk, bool fits, bool is_on_own)
{
	if (walk->status != WALK_COMPLETE)
		return walk_status_of_interpreted(walk->status);
	if (fits)
		return WALK_COMPLETE;
	return is_on_own ? WALK_CODE_UNMATCHED : WALK_SWITCHED;
}

static void put_frames(struct walk *walk, struct mem *mem)
{
	struct ruby_scratch *scratch = walk->ruby;
	enum walk_status status;
	const struct ruby_stack *stack = read_frames(walk, mem, &status);

	/* A thread that begins or ends, or serves the interpreter. */
	if (status == WALK_COMPLETE && stack->count == 0 && scratch->activations == 0)
		return;
	const bool is_on_own = scratch->context != 0 && is_on_own_stack(mem, walk);
	const bool may_fit =
		walk->status == WALK_COMPLETE && status == WALK_COMPLETE && is_on_own;
	struct ruby_natives natives = {
		.frames = walk->frames,
		.count = walk->count,
		.room = WALK_MAX_FRAMES,
	};
	const bool fits = ruby_merge(scratch->layout, stack, may_fit, &natives);

	walk->count = natives.count;
	walk->is_full |= natives.is_full || stack->is_full;
	if (status == WALK_COMPLETE)
		walk->status = (u8)status_of(walk, fits, is_on_own);
	else if (walk->status == WALK_COMPLETE)
		walk->status = (u8)status;
}

/* Sends the thread's name if it is longer than the kernel keeps. */
static void send_thread_name(struct walk *walk, struct mem *mem)
{
	const struct ruby_scratch *scratch = walk->ruby;
	const struct ruby_offsets *offsets = &scratch->layout->offsets;
	struct name_text *name = &walk->ruby->texts[0];
	u64 thread, text;

	name->length = 0;
	name->is_cut = 0;
	if (ruby_read(mem, &thread, scratch->context, offsets->ec_thread) < 0 ||
	    ruby_read(mem, &text, thread, offsets->thread_name) < 0)
		return;
	ruby_text_append(mem, scratch->layout, text, name);
	if (name->length > KERNEL_NAME_MAX)
		thread_name_send(walk->ring, name);
}

/* Makes a word the innermost caller: only the leaf's address is inside of it. */
static void put_innermost(struct walk *walk, u64 word)
{
	walk_push(walk, 0);
	for (u32 i = walk->count - 1; i > 0; i--)
		walk->frames[i] = walk->frames[i - 1];
	walk->frames[0] = word;
}

/* Whether the thread holds the GVL: it executes Ruby instructions, or is the only thread. */
static bool has_gvl(const struct walk *walk)
{
	const struct ruby_scratch *scratch = walk->ruby;

	if (!own_process.has_had_threads)
		return true;
	return scratch->frames.has_top && code_ranges_have(scratch->layout->core, walk->leaf);
}

void ruby_end_walk(struct walk *walk, struct mem *mem)
{
	struct ruby_scratch *scratch = walk->ruby;

	if (scratch->layout == NULL)
		return;
	scratch->context = ruby_find_context(mem, scratch->layout);
	if (scratch->context == 0 && scratch->activations == 0)
		return;
	scratch->collection = 0;
	put_frames(walk, mem);
	if (scratch->collection != 0)
		put_innermost(walk, scratch->collection);
	/* Where Ruby is executed, the VM has been set up. */
	if (scratch->context != 0 && scratch->frames.stack.activations > 0)
		ruby_api_ask(walk, has_gvl(walk));
	if (walk->status == WALK_COMPLETE && may_read_heap(scratch) && thread_name_is_due())
		send_thread_name(walk, mem);
}
