/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby - walks the control frames of a CRuby thread.
 *
 * Each thread, and each fiber, has a VM stack: values grow from its beginning upwards, control
 * frames (rb_control_frame_t) from its end downwards, all of one size.  So the frames are an
 * array, the innermost first: from ec->cfp, outwards to the end of the stack.  Methods in C have
 * frames there, too, so the array alone is a whole Ruby stack.
 *
 * How it goes together with the native one: a call of rb_vm_exec() executes the frames from the
 * innermost to the first one that is_last; a method in C is called by what executes the frame
 * outside of it.  The vantage counts (docs/decisions/0019).
 *
 *	ruby_begin(mem, layout, context, &walk);
 *	while ((step = ruby_next(mem, &walk, &frame)) == RUBY_FRAME)
 *
 * within a bound of its own.  Names and keys: ruby_code.h; lines: ruby_line.h; what the innermost
 * frame is about to do: ruby_leaf.h.
 *
 * The walk may come at any instruction.  Frames are written before ec->cfp names them (from 3.0
 * on), so the innermost one is whole or is not there; but up to 3.4 nothing kept the compiler
 * from another order, and in 2.7 ec->cfp comes first.  So an innermost frame that does not hang
 * together is being made, and passed over.  What was there before may hang together well: the
 * last frame that was at this address.  But that has returned: its last instruction was `leave`.
 *
 * No libc, no allocation, every loop has a constant bound; for kernels it compiles with
 * `clang -target bpf` too.  Sources: vm_core.h, vm_insnhelper.c (vm_push_frame()) and
 * vm_backtrace.c (rb_profile_frames()) of each version.
 */
#pragma once
#include "ruby_env.h"
#include "ruby_instruction.h"
#include "ruby_walk.h"

/* A VM stack is 1 MiB; RUBY_THREAD_VM_STACK_SIZE makes it larger.  In words. */
#define RUBY_STACK_WORDS_MAX (1ULL << 27)
#define RUBY_FRAME_WORDS     8
/* The first version that writes frames before it names them. */
#define RUBY_FRAMES_FIRST 0x030000

/* Begins with an execution context.  0, or negative if that is none, or has no stack (yet). */
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
 * Whether the memory at `context` looks like the context that a thread executes in.  thread_pointer
 * is that thread's pthread_self(); it is only looked at where the context was not had from a
 * variable of the thread's own (2.7).
 */
static inline int ruby_is_context(struct mem *mem, const struct ruby_layout *layout,
				  u64 context, u64 thread_pointer)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	struct ruby_walk walk;
	u64 thread, its;

	if (ruby_begin(mem, layout, context, &walk) < 0 ||
	    ruby_read(mem, &thread, context, offsets->ec_thread) < 0 ||
	    !ruby_is_object(thread) || ruby_read(mem, &its, thread, offsets->thread_ec) < 0 ||
	    its != context)
		return 0;
	if (layout->context_means != RUBY_CONTEXT_BY_LIST)
		return 1;
	return ruby_read(mem, &its, thread, offsets->thread_pthread) >= 0 &&
	       its == thread_pointer;
}

/* The compiled code of a frame; negative if it is none, or pc is not in it. */
static inline int ruby_frame_code(struct mem *mem, const struct ruby_layout *layout,
				  struct ruby_frame *frame)
{
	const struct ruby_offsets *offsets = &layout->offsets;

	if (!ruby_is_imemo(mem, frame->iseq, RUBY_IMEMO_ISEQ) ||
	    ruby_read(mem, &frame->body, frame->iseq, offsets->iseq_body) < 0 ||
	    ruby_read_int(mem, &frame->size, frame->body, offsets->body_size) < 0 ||
	    ruby_read(mem, &frame->encoded, frame->body, offsets->body_encoded) < 0)
		return -1;
	if (frame->pc < frame->encoded || (frame->pc & 7) != 0 ||
	    frame->pc - frame->encoded > (u64)frame->size * sizeof(u64))
		return -1;
	return 0;
}

/* One field of a frame's bytes. */
static inline u64 ruby_frame_field(const u64 *words, u16 offset)
{
	return words[offset / sizeof(u64) % RUBY_FRAME_WORDS];
}

/* Makes out what a frame is; negative: it is none. */
static inline int ruby_frame_read(struct mem *mem, const struct ruby_layout *layout,
				  u64 address, struct ruby_frame *frame)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	u64 words[RUBY_FRAME_WORDS] = { 0 };
	struct ruby_env env;

	*frame = (struct ruby_frame){ .address = address };
	if (mem_read(mem, words, offsets->frame_size, address) < 0 ||
	    ruby_env_read(mem, ruby_frame_field(words, offsets->frame_ep), &env) < 0 ||
	    !ruby_magic_is_known(env.flags))
		return -1;
	frame->sp = ruby_frame_field(words, offsets->frame_sp);
	frame->kind = RUBY_FRAME_BASE;
	if ((env.flags & RUBY_MAGIC_MASK) == RUBY_MAGIC_DUMMY)
		return 0;
	if (env.flags & RUBY_FRAME_IS_C) {
		frame->method = ruby_method_of(mem, &env);
		frame->kind = RUBY_FRAME_BLOCK_C;
		if ((env.flags & RUBY_MAGIC_MASK) == RUBY_MAGIC_C && frame->method != 0)
			frame->kind = RUBY_FRAME_C;
		return 0;
	}
	frame->iseq = ruby_frame_field(words, offsets->frame_iseq);
	frame->pc = ruby_frame_field(words, offsets->frame_pc);
	if (frame->pc == 0)
		return ruby_is_object(frame->iseq) ? 0 : -1;
	frame->kind = RUBY_FRAME_ISEQ;
	frame->is_last = (env.flags & RUBY_FRAME_FINISH) != 0;
	frame->is_jitted = offsets->frame_jit_return != RUBY_NO_FIELD &&
			   ruby_frame_field(words, offsets->frame_jit_return) != 0;
	frame->method = ruby_method_of(mem, &env);
	return ruby_frame_code(mem, layout, frame);
}

/*
 * Whether the frame has executed `leave`, and so is about to go.  Instructions that a jump leads
 * to may stand behind a `leave` that is not theirs; those that let pc stay are not taken for it.
 */
static inline int ruby_frame_has_left(struct mem *mem, const struct ruby_layout *layout,
				      const struct ruby_frame *frame)
{
	const u32 last = ruby_instruction_ending(mem, layout, frame->encoded, frame->pc);
	u64 word;

	if (ruby_operator_of(layout, last) != RUBY_OPERATOR_LEAVE)
		return 0;
	return frame->pc == frame->encoded + (u64)frame->size * sizeof word ||
	       mem_read(mem, &word, sizeof word, frame->pc) < 0 ||
	       !ruby_pc_stays(layout, ruby_instruction_of(layout, word));
}

/* Whether an innermost frame is one that has been made, and not yet another. */
static inline int ruby_frame_is_whole(struct mem *mem, const struct ruby_layout *layout,
				      const struct ruby_frame *frame)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	u64 definition, iseq;
	u32 type;

	if (frame->kind != RUBY_FRAME_ISEQ)
		return 1;
	if (ruby_read_int(mem, &type, frame->body, offsets->body_type) < 0)
		return 0;
	if (type == RUBY_ISEQ_METHOD &&
	    (ruby_read(mem, &definition, frame->method, offsets->method_definition) < 0 ||
	     ruby_read(mem, &iseq, definition, offsets->definition_iseq) < 0 ||
	     iseq != frame->iseq))
		return 0;
	return layout->version >= RUBY_FRAMES_FIRST || !ruby_frame_has_left(mem, layout, frame);
}

/* The next frame outwards. */
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
		    (!is_innermost || ruby_frame_is_whole(mem, layout, frame)))
			break;
		if (!is_innermost)
			return RUBY_BROKEN;
	}
	if (frame->kind != RUBY_FRAME_ISEQ)
		return RUBY_FRAME;
	frame->is_told = walk->is_told;
	if (ruby_read_int(mem, &type, frame->body, layout->offsets.body_type) < 0)
		return RUBY_BROKEN;
	walk->is_told = type == RUBY_ISEQ_RESCUE || type == RUBY_ISEQ_ENSURE;
	return RUBY_FRAME;
}
