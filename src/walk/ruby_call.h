/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_call - the method that an instruction calls, by the instruction's inline cache.
 *
 * The first operand of a call is its struct rb_call_data, which contains the cache (2.7) or
 * points to it.  The cache is filled before the method is called, and valid until the same
 * instruction looks up another method.
 */
#pragma once
#include "ruby_instruction.h"
#include "ruby_walk.h"

/* enum rb_method_type_t: the lowest bits of a definition's first word. */
#define RUBY_METHOD_TYPE_MASK       0xf
#define RUBY_METHOD_ISEQ            0
#define RUBY_METHOD_C               1
#define RUBY_METHOD_WRITER          2
#define RUBY_METHOD_READER          3
#define RUBY_METHOD_NOT_IMPLEMENTED 8 /* in C: raises */
#define RUBY_METHOD_OPTIMIZED       9

/* The type of a method entry's definition; negative if it cannot be read. */
static inline int ruby_method_type(struct mem *mem, const struct ruby_layout *layout,
				   u64 method)
{
	u64 definition;
	u32 type;

	if (ruby_read(mem, &definition, method, layout->offsets.method_definition) < 0 ||
	    ruby_read_int(mem, &type, definition, 0) < 0)
		return -1;
	return (int)(type & RUBY_METHOD_TYPE_MASK);
}

struct ruby_call {
	u64 cache;
	u64 method; /* a method entry */
	u64 definition;
	u8 type; /* enum rb_method_type_t */
};

/* Reads what the instruction at `place` calls; negative: unknown to its cache. */
static inline int ruby_call_read(struct mem *mem, const struct ruby_layout *layout, u64 place,
				 struct ruby_call *out_call)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	u32 type;

	if (place == 0 ||
	    mem_read(mem, &out_call->cache, sizeof(u64), place + sizeof(u64)) < 0 ||
	    (offsets->call_data_cache != RUBY_NO_FIELD &&
	     ruby_read(mem, &out_call->cache, out_call->cache, offsets->call_data_cache) < 0) ||
	    ruby_read(mem, &out_call->method, out_call->cache, offsets->cache_method) < 0 ||
	    !ruby_is_imemo(mem, out_call->method, RUBY_IMEMO_MENT) ||
	    ruby_read(mem, &out_call->definition, out_call->method,
		      offsets->method_definition) < 0 ||
	    ruby_read_int(mem, &type, out_call->definition, 0) < 0)
		return -1;
	out_call->type = type & RUBY_METHOD_TYPE_MASK;
	return 0;
}
