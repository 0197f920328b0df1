/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_whole - whether the innermost frame is complete.
 *
 * From 3.0 on a frame is written before ec->cfp points to it, so a visible frame is complete; but
 * up to 3.4 nothing keeps the compiler from another order (ruby#11036).  So a frame's code must
 * agree with the kind that its environment has.
 *
 * In 2.7 ec->cfp is set first, and then points to the frame that was at this address before,
 * which is consistent in itself.  But that frame has returned, so its last instruction was
 * `leave` (or an exception left it), and its caller's cache shows that another method is being
 * called.  Only a method in C that is called from C cannot be distinguished from an earlier one.
 */
#pragma once
#include "ruby_call.h"
#include "ruby_frame.h"

/* The first version that writes frames before ec->cfp points to them. */
#define RUBY_FRAMES_FIRST 0x030000

/*
 * Whether the frame has executed `leave`, and so is about to be removed.  An instruction to which
 * a jump leads may follow a `leave` that was not executed; a frame at an instruction that does
 * not advance pc is not taken for having left.
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

/* Whether the method entry of a method's frame belongs to the frame's iseq. */
static inline int ruby_frame_is_its_methods(struct mem *mem, const struct ruby_layout *layout,
					    const struct ruby_frame *frame)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	u64 definition, iseq;

	return ruby_read(mem, &definition, frame->method, offsets->method_definition) >= 0 &&
	       ruby_read(mem, &iseq, definition, offsets->definition_iseq) >= 0 &&
	       iseq == frame->iseq;
}

/* Whether a block that is written in a method has a method entry. */
static inline int ruby_frame_has_its_method(struct mem *mem, const struct ruby_layout *layout,
					    const struct ruby_frame *frame)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	u64 iseq, body;
	u32 type;

	return frame->method != 0 ||
	       ruby_read(mem, &iseq, frame->body, offsets->body_local) < 0 ||
	       ruby_read(mem, &body, iseq, offsets->iseq_body) < 0 ||
	       ruby_read_int(mem, &type, body, offsets->body_type) < 0 ||
	       type != RUBY_ISEQ_METHOD;
}

/* Whether an instruction has its call data as first operand, and makes no other call. */
static inline int ruby_operator_calls(u8 operation)
{
	return (operation >= RUBY_OPERATOR_PLUS && operation <= RUBY_OPERATOR_MATCH &&
		operation != RUBY_OPERATOR_NEQ && operation != RUBY_OPERATOR_AREF_WITH &&
		operation != RUBY_OPERATOR_ASET_WITH) ||
	       operation == RUBY_OPERATOR_SEND;
}

/* Whether the caller is calling this frame's method, as far as that can be determined. */
static inline int ruby_frame_is_called(struct mem *mem, const struct ruby_walk *walk,
				       const struct ruby_frame *frame)
{
	const struct ruby_layout *layout = walk->layout;
	struct ruby_frame caller;
	struct ruby_call call;
	u64 place;

	if (walk->next >= walk->end || frame->is_last || frame->kind == RUBY_FRAME_BLOCK_C ||
	    ruby_frame_read(mem, layout, walk->next, &caller) < 0 ||
	    caller.kind != RUBY_FRAME_ISEQ)
		return 1;
	/* Any instruction may have raised an exception. */
	if ((frame->flags & RUBY_MAGIC_MASK) == RUBY_MAGIC_RESCUE)
		return (frame->outer & ~3ULL) == caller.ep;
	place = ruby_instruction_place(mem, layout, caller.encoded, caller.pc);
	if (!ruby_operator_calls(ruby_operator_of(
		    layout, ruby_instruction_ending(mem, layout, caller.encoded, caller.pc))) ||
	    ruby_call_read(mem, layout, place, &call) < 0 ||
	    (call.type != RUBY_METHOD_ISEQ && call.type != RUBY_METHOD_C))
		return 1;
	return frame->method == call.method &&
	       (frame->kind == RUBY_FRAME_C) == (call.type == RUBY_METHOD_C);
}

/* Whether a frame's code agrees with its kind. */
static inline int ruby_frame_is_consistent(struct mem *mem, const struct ruby_layout *layout,
					   const struct ruby_frame *frame)
{
	u32 type;
	int method;

	if (frame->kind == RUBY_FRAME_C) {
		method = ruby_method_type(mem, layout, frame->method);
		return method == RUBY_METHOD_C || method == RUBY_METHOD_NOT_IMPLEMENTED;
	}
	if (frame->kind != RUBY_FRAME_ISEQ)
		return 1;
	return ruby_read_int(mem, &type, frame->body, layout->offsets.body_type) >= 0 &&
	       ruby_magic_executes(frame->flags, type) &&
	       (type != RUBY_ISEQ_METHOD || ruby_frame_is_its_methods(mem, layout, frame));
}

/* Whether an innermost frame, the one right before walk->next, is complete. */
static inline int ruby_frame_is_whole(struct mem *mem, const struct ruby_walk *walk,
				      const struct ruby_frame *frame)
{
	const struct ruby_layout *layout = walk->layout;

	if (!ruby_frame_is_consistent(mem, layout, frame))
		return 0;
	if (layout->version >= RUBY_FRAMES_FIRST || frame->kind == RUBY_FRAME_BASE)
		return 1;
	if (frame->kind == RUBY_FRAME_ISEQ && (ruby_frame_has_left(mem, layout, frame) ||
					       !ruby_frame_has_its_method(mem, layout, frame)))
		return 0;
	return ruby_frame_is_called(mem, walk, frame);
}
