/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_variables - reads internal variables of a class, such as __classpath__, which Ruby up to
 * 3.2 keeps among those of programs, under names that no program can use.
 *
 *   2.7 to 3.1   in an st_table of the class, from ID to value.  Its entries are in an array in
 *   order
 *                of creation; deleted ones stay for a while, with a hash that no other entry has
 *                (st.c).  Tables are small, so all entries are searched.
 *   3.2          in an array; the class's shape gives each variable's index.  A shape is its
 *   parent
 *                shape plus one variable; all are in an array of the VM (shape.h).
 *
 * A name's ID differs from process to process, so names are compared.
 */
#pragma once
#include "ruby_symbols.h"

/* A class of a large program may have dozens of variables. */
#define RUBY_VARIABLES_MAX 128

/* struct st_table and st_table_entry, since 2.4. */
#define RUBY_TABLE_START     32 /* entries_start, entries_bound, entries */
#define RUBY_TABLE_ENTRY     24
#define RUBY_TABLE_HASH_NONE (~0ULL) /* RESERVED_HASH_VAL */

/* rb_shape_t of 3.2; a class's shape is the upper half of its flags. */
#define RUBY_SHAPE_SIZE        32
#define RUBY_SHAPE_NAME        8
#define RUBY_SHAPE_NEXT        16 /* next_iv_index */
#define RUBY_SHAPE_TYPE        24
#define RUBY_SHAPE_OF_VARIABLE 1 /* SHAPE_IVAR */
#define RUBY_SHAPE_FLAGS_SHIFT 32
#define RUBY_SHAPES_MAX        0x80000

static inline u64 ruby_variable_of_table(struct mem *mem, const struct ruby_layout *layout,
					 u64 table, const char *name)
{
	u64 place[3], entry[3];

	if (table == 0 || mem_read(mem, place, sizeof place, table + RUBY_TABLE_START) < 0)
		return 0;
	for (u32 i = 0; i < RUBY_VARIABLES_MAX && place[0] + i < place[1]; i++) {
		if (mem_read(mem, entry, sizeof entry,
			     place[2] + (place[0] + i) * RUBY_TABLE_ENTRY) < 0)
			return 0;
		if (entry[0] != RUBY_TABLE_HASH_NONE &&
		    ruby_symbol_is(mem, layout, entry[1], name))
			return entry[2];
	}
	return 0;
}

static inline u64 ruby_variable_of_shape(struct mem *mem, const struct ruby_layout *layout,
					 u64 shapes, u64 flags, u64 values, const char *name)
{
	u32 number = (u32)(flags >> RUBY_SHAPE_FLAGS_SHIFT);

	for (u32 i = 0; i < RUBY_VARIABLES_MAX && number < RUBY_SHAPES_MAX; i++) {
		u64 words[RUBY_SHAPE_SIZE / sizeof(u64)];
		u64 value;

		if (mem_read(mem, words, sizeof words, shapes + (u64)number * RUBY_SHAPE_SIZE) <
		    0)
			return 0;
		if ((words[RUBY_SHAPE_TYPE / 8] & 0xff) == RUBY_SHAPE_OF_VARIABLE &&
		    ruby_symbol_is(mem, layout, words[RUBY_SHAPE_NAME / 8], name)) {
			const u64 next = words[RUBY_SHAPE_NEXT / 8] & 0xffffffff;

			if (next == 0 || next > RUBY_SHAPES_MAX ||
			    mem_read(mem, &value, sizeof value,
				     values + (next - 1) * sizeof value) < 0)
				return 0;
			return value;
		}
		if (number == 0)
			return 0; /* the root shape */
		number = (u32)(words[RUBY_SHAPE_TYPE / 8] >> 32);
	}
	return 0;
}

/* The variable of this name, of a class with this extension and these flags, or 0. */
static inline u64 ruby_variable_of(struct mem *mem, const struct ruby_layout *layout, u64 ext,
				   u64 flags, const char *name)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	u64 vm, shapes, values;

	if (offsets->ext_table != RUBY_NO_FIELD)
		return ruby_read(mem, &values, ext, offsets->ext_table) < 0
			       ? 0
			       : ruby_variable_of_table(mem, layout, values, name);
	if (offsets->vm_shapes == RUBY_NO_FIELD || layout->vm == 0 ||
	    mem_read(mem, &vm, sizeof vm, layout->vm) < 0 ||
	    ruby_read(mem, &shapes, vm, offsets->vm_shapes) < 0 ||
	    ruby_read(mem, &values, ext, offsets->ext_variables) < 0)
		return 0;
	return ruby_variable_of_shape(mem, layout, shapes, flags, values, name);
}
