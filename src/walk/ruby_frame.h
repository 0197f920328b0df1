/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_frame - reads a control frame and its environment.
 */
#pragma once
#include "ruby_env.h"
#include "ruby_walk.h"

/* Words of the largest rb_control_frame_t of any version. */
#define RUBY_FRAME_WORDS 8

/* Reads a frame's iseq; negative if it is invalid, or pc is not in it. */
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

/* A field of a frame that was read as words. */
static inline u64 ruby_frame_field(const u64 *words, u16 offset)
{
	return words[offset / sizeof(u64) % RUBY_FRAME_WORDS];
}

/* Reads a frame; negative: it is invalid. */
static inline int ruby_frame_read(struct mem *mem, const struct ruby_layout *layout,
				  u64 address, struct ruby_frame *frame)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	u64 words[RUBY_FRAME_WORDS] = { 0 };
	struct ruby_env env;

	*frame = (struct ruby_frame){ .address = address };
	if (mem_read(mem, words, offsets->frame_size, address) < 0)
		return -1;
	frame->ep = ruby_frame_field(words, offsets->frame_ep);
	if (ruby_env_read(mem, frame->ep, &env) < 0 || !ruby_magic_is_known(env.flags))
		return -1;
	frame->outer = env.outer;
	frame->flags = env.flags;
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
