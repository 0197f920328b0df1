/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * python_memory - reads fields of CPython's objects.
 */
#pragma once
#include "abi/python_layout.h"
#include "mem.h"

/* Objects are aligned; from 3.13 on references have tags in these bits (_PyStackRef). */
#define CODE_REFERENCE_MARKS 7ULL

static inline int python_read(struct mem *mem, u64 *out_value, u64 object, u16 field)
{
	return mem_read(mem, out_value, sizeof *out_value, object + field);
}

/* Reads an int. */
static inline int python_read_int(struct mem *mem, s32 *out_value, u64 object, u16 field)
{
	return mem_read(mem, out_value, sizeof *out_value, object + field);
}

static inline int python_read_byte(struct mem *mem, u8 *out_value, u64 object, u16 field)
{
	return mem_read(mem, out_value, sizeof *out_value, object + field);
}

/* Whether the object is of exactly this type; negative if it cannot be read. */
static inline int python_is_of_type(struct mem *mem, const struct python_layout *layout,
				    u64 object, u64 type)
{
	u64 its_type;

	if (python_read(mem, &its_type, object, layout->offsets.object_type) < 0)
		return -1;
	return its_type == type;
}
