/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_symbols - finds the String of an ID.
 *
 * An ID is CRuby's number for a name of a method or variable.  Its String is in
 * ruby_global_symbols.ids, an Array of Arrays of 512 pairs of a String and a Symbol (symbol.c,
 * get_id_serial_entry(); ID_ENTRY_UNIT and ID_ENTRY_SIZE).  IDs up to tLAST_OP_ID are operators,
 * and their own serial numbers; others have their scope in the lower bits (symbol.h,
 * rb_id_to_serial()).
 */
#pragma once
#include "ruby_text.h"

#define RUBY_SYMBOLS_UNIT     512
#define RUBY_SYMBOLS_PAIR     2
#define RUBY_ID_SCOPE_SHIFT   4
#define RUBY_ARRAY_IS_EMBED   (1ULL << (RUBY_USER_SHIFT + 1)) /* RARRAY_EMBED_FLAG */
#define RUBY_ARRAY_LEN_SHIFT  (RUBY_USER_SHIFT + 3)
#define RUBY_ARRAY_EMBED_MASK 0x7f /* the widest of any version: seven bits, from 3.2 on */

/* An element of an Array, or 0. */
static inline u64 ruby_array_at(struct mem *mem, const struct ruby_layout *layout, u64 array,
				u64 index)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	const u64 flags = ruby_flags_of(mem, array);
	u64 elements = array + offsets->array_embedded;
	u64 length, element;

	if ((flags & RUBY_TYPE_MASK) != RUBY_T_ARRAY)
		return 0;
	/* An Array that is not embedded has its length where embedded elements would begin. */
	if (flags & RUBY_ARRAY_IS_EMBED)
		length = flags >> RUBY_ARRAY_LEN_SHIFT & RUBY_ARRAY_EMBED_MASK;
	else if (ruby_read(mem, &length, array, offsets->array_embedded) < 0 ||
		 ruby_read(mem, &elements, array, offsets->array_pointer) < 0)
		return 0;
	if (index >= length ||
	    mem_read(mem, &element, sizeof element, elements + index * sizeof element) < 0)
		return 0;
	return element;
}

/* The String of an ID, or 0. */
static inline u64 ruby_symbol_of(struct mem *mem, const struct ruby_layout *layout, u64 id)
{
	const u64 serial = id > layout->last_operator_id ? id >> RUBY_ID_SCOPE_SHIFT : id;
	u64 ids, unit;

	if (layout->symbols == 0 || serial == 0 ||
	    ruby_read(mem, &ids, layout->symbols, layout->offsets.symbols_ids) < 0)
		return 0;
	unit = ruby_array_at(mem, layout, ids, serial / RUBY_SYMBOLS_UNIT);
	return ruby_array_at(mem, layout, unit, serial % RUBY_SYMBOLS_UNIT * RUBY_SYMBOLS_PAIR);
}

/* Whether an ID's String is this name, of at most 24 characters. */
static inline int ruby_symbol_is(struct mem *mem, const struct ruby_layout *layout, u64 id,
				 const char *characters)
{
	return ruby_text_is(mem, layout, ruby_symbol_of(mem, layout, id), characters);
}
