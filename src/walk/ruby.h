/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby - walks the control frames of a CRuby thread.
 *
 * Each thread, and each fiber, has a VM stack: values grow from its beginning upwards, control
 * frames (rb_control_frame_t), all of one size, from its end downwards.  So the frames are an
 * array with the innermost first, from ec->cfp to the end of the stack.  Methods in C have frames
 * there, too, so the array alone is a complete Ruby stack.
 *
 * How Ruby frames belong to native frames: a call of rb_vm_exec() executes the frames from the
 * innermost to the first one that is_last; a method in C is called by whatever executes the frame
 * outside of it.  The including code counts both (docs/decisions/0019).
 *
 *	ruby_begin(mem, layout, context, &walk);    (and set walk.is_settled, if known)
 *	while ((step = ruby_next(mem, &walk, &frame)) == RUBY_FRAME)
 *
 * within a bound of its own.  Names and keys: ruby_code.h; lines: ruby_line.h; calls without a
 * frame in the innermost frame: ruby_leaf.h.
 *
 * The walk may happen at any instruction: an innermost frame that is still being created is
 * skipped (ruby_whole.h).
 *
 * No libc, no allocation, every loop has a constant bound; for kernels it compiles with
 * `clang -target bpf` too.  Sources: vm_core.h, vm_insnhelper.c (vm_push_frame()) and
 * vm_backtrace.c (rb_profile_frames()) of each version.
 */
#pragma once
#include "ruby_whole.h"

/* In words.  A VM stack has 1 MiB, or more by RUBY_THREAD_VM_STACK_SIZE. */
#define RUBY_STACK_WORDS_MAX (1ULL << 27)

/* Begins with an execution context: 0, or negative if it is invalid, or has no stack (yet). */
static inline int ruby_begin(struct mem *mem, const struct ruby_layout *layout, u64 context,
			     struct ruby_walk *walk)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	u64 words;

	*walk = (struct ruby_walk){ .layout = layout, .context = context };
	if (!ruby_is_object(context) || offsets->frame_size < sizeof(u64) ||
	    offsets->frame_size > RUBY_FRAME_WORDS * sizeof(u64) ||
	    ruby_read(mem, &walk->stack, context, offsets->ec_stack) < 0 ||
	    ruby_read(mem, &words, context, offsets->ec_stack_size) < 0 ||
	    ruby_read(mem, &walk->next, context, offsets->ec_frame) < 0)
		return -1;
	if (!ruby_is_object(walk->stack) || words > RUBY_STACK_WORDS_MAX)
		return -1;
	walk->end = walk->stack + words * sizeof(u64);
	if (walk->next < walk->stack || walk->next > walk->end || (walk->next & 7) != 0 ||
	    (walk->end - walk->next) % offsets->frame_size != 0)
		return -1;
	return 0;
}

/*
 * Whether a thread executes in this context.  While it switches fibers, the thread object and the
 * thread-local variable refer to two of its contexts for some instructions: both are accepted.
 */
static inline int ruby_executes(struct mem *mem, const struct ruby_layout *layout, u64 thread,
				u64 context)
{
	struct ruby_walk walk;
	u64 other, its;

	if (ruby_read(mem, &other, thread, layout->offsets.thread_ec) < 0)
		return 0;
	return other == context ||
	       (ruby_begin(mem, layout, other, &walk) >= 0 &&
		ruby_read(mem, &its, other, layout->offsets.ec_thread) >= 0 && its == thread);
}

/*
 * Whether the memory at `context` looks like the context that a thread executes in.
 * thread_pointer: that thread's pthread_self(), compared only where the context was not read from
 * a thread-local variable (2.7).
 */
static inline int ruby_is_context(struct mem *mem, const struct ruby_layout *layout,
				  u64 context, u64 thread_pointer)
{
	struct ruby_walk walk;
	u64 thread, its;

	if (ruby_begin(mem, layout, context, &walk) < 0 ||
	    ruby_read(mem, &thread, context, layout->offsets.ec_thread) < 0 ||
	    !ruby_is_object(thread) || !ruby_executes(mem, layout, thread, context))
		return 0;
	if (layout->context_means != RUBY_CONTEXT_BY_LIST)
		return 1;
	return ruby_read(mem, &its, thread, layout->offsets.thread_pthread) >= 0 &&
	       its == thread_pointer;
}

/* Reads the next frame outwards. */
static inline enum ruby_step ruby_next(struct mem *mem, struct ruby_walk *walk,
				       struct ruby_frame *frame)
{
	const struct ruby_layout *layout = walk->layout;
	u32 type;

	for (u32 i = 0; i < 2; i++) {
		const u64 address = walk->next;
		const int is_innermost = walk->count == 0;

		if (address >= walk->end)
			return RUBY_END;
		walk->next += layout->offsets.frame_size;
		walk->count++;
		if (ruby_frame_read(mem, layout, address, frame) >= 0 &&
		    (!is_innermost || walk->is_settled ||
		     ruby_frame_is_whole(mem, walk, frame)))
			break;
		if (!is_innermost)
			return RUBY_BROKEN;
	}
	if (frame->kind != RUBY_FRAME_ISEQ)
		return RUBY_FRAME;
	frame->is_repeated = walk->is_repeated;
	if (ruby_read_int(mem, &type, frame->body, layout->offsets.body_type) < 0)
		return RUBY_BROKEN;
	walk->is_repeated = type == RUBY_ISEQ_RESCUE || type == RUBY_ISEQ_ENSURE;
	return RUBY_FRAME;
}
