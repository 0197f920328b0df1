/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_code - a key that identifies a Ruby method or block.
 *
 * A frame's code is identified by its iseq and its method entry: one iseq may be a method of
 * several classes (Module#define_method, a module's methods), and one method has many blocks.
 * Either can be freed and another created at its address.  So the key is computed from the
 * addresses and from what they contain: labels, path, first line, length, and the class's name.
 *
 * Its names: ruby_names.h.
 */
#pragma once
#include "ruby_class.h"
#include "ruby_leaf.h"
#include "ruby_walk.h"

/* The code of frames that share a key. */
struct ruby_code {
	u64 iseq;   /* 0: not written in Ruby: no file, no lines */
	u64 method; /* the method entry; 0: none */
	u64 body;
	u64 encoded;
	u64 label, path; /* Strings */
	u64 id;          /* for a method not written in Ruby: its name, or 0 */
	struct ruby_owner owner;
	u32 size;
	u32 first_line; /* 0: unknown */
	u8 operation;   /* enum ruby_operator: an operator, on a receiver of `class` */
	u8 class;       /* enum ruby_class */
};

/* Reads a method entry: its class and its name. */
static inline void ruby_code_of_method(struct mem *mem, const struct ruby_layout *layout,
				       u64 method, struct ruby_code *code)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	u64 owner, definition;

	code->method = method;
	if (method == 0)
		return;
	if (ruby_read(mem, &owner, method, offsets->method_owner) >= 0)
		ruby_class_owner(mem, layout, owner, &code->owner);
	if (ruby_read(mem, &definition, method, offsets->method_definition) >= 0)
		(void)ruby_read(mem, &code->id, definition, offsets->definition_id);
}

/* The path, from a String or an Array of it and the real path. */
static inline u64 ruby_path_of(struct mem *mem, const struct ruby_layout *layout, u64 path)
{
	return (ruby_flags_of(mem, path) & RUBY_TYPE_MASK) == RUBY_T_ARRAY
		       ? ruby_array_at(mem, layout, path, 0)
		       : path;
}

/* Reads a frame's code: 0, or negative if it has none with a name, or it cannot be read. */
static inline int ruby_code_read(struct mem *mem, const struct ruby_layout *layout,
				 const struct ruby_frame *frame, struct ruby_code *out_code)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	u64 line = 0;

	*out_code = (struct ruby_code){ 0 };
	ruby_code_of_method(mem, layout, frame->method, out_code);
	if (frame->kind == RUBY_FRAME_C)
		return out_code->id != 0 ? 0 : -1;
	if (frame->kind != RUBY_FRAME_ISEQ ||
	    ruby_read(mem, &out_code->path, frame->body, offsets->body_path) < 0 ||
	    ruby_read(mem, &out_code->label, frame->body, offsets->body_label) < 0 ||
	    ruby_read(mem, &line, frame->body, offsets->body_first_line) < 0)
		return -1;
	out_code->id = 0;
	out_code->iseq = frame->iseq;
	out_code->body = frame->body;
	out_code->encoded = frame->encoded;
	out_code->size = frame->size;
	out_code->path = ruby_path_of(mem, layout, out_code->path);
	/* An int, or a Fixnum: twice the number and one. */
	out_code->first_line = (u32)(layout->first_line_is_value ? line >> 1 : line);
	if ((s32)out_code->first_line < 0)
		out_code->first_line = 0;
	return 0;
}

/* The same for a call without a frame (ruby_leaf.h). */
static inline int ruby_code_of_leaf(struct mem *mem, const struct ruby_layout *layout,
				    const struct ruby_leaf *leaf, struct ruby_code *out_code)
{
	*out_code = (struct ruby_code){ 0 };
	if (leaf->operation == RUBY_OPERATOR_NONE)
		return -1;
	if (leaf->operation == RUBY_OPERATOR_SEND) {
		ruby_code_of_method(mem, layout, leaf->method, out_code);
		return out_code->id != 0 ? 0 : -1;
	}
	out_code->operation = leaf->operation;
	out_code->class = leaf->class;
	out_code->id = leaf->operand;
	return 0;
}

/* The key of code from either of these functions. */
static inline u64 ruby_code_key(struct mem *mem, const struct ruby_layout *layout,
				const struct ruby_code *code)
{
	u64 hash = code_mix((u64)code->operation << 8 | code->class, code->id);

	if (code->operation != RUBY_OPERATOR_NONE)
		return code_key_of_hash(hash);
	hash = ruby_mix_text(mem, layout, code_mix(hash, code->owner.separator),
			     code->owner.path);
	hash = code_mix(hash, code->method);
	if (code->iseq ==
	    0) /* IDs are not given to others while there is a method of that name */
		return code_key_of_hash(ruby_mix_text(mem, layout, hash,
						      ruby_symbol_of(mem, layout, code->id)));
	hash = code_mix(code_mix(hash, code->iseq), code->body);
	hash = code_mix(code_mix(hash, code->encoded),
			(u64)code->size << 32 | code->first_line);
	hash = ruby_mix_text(mem, layout, hash, code->path);
	return code_key_of_hash(ruby_mix_text(mem, layout, hash, code->label));
}
