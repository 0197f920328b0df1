/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_memory - reads fields and types of CRuby's objects.
 *
 * A VALUE is the address of an object on the heap, or a constant that contains its value.  An
 * object begins with struct RBasic: a word of flags, which include its type, and its class.
 * Types and flags are those of every version from 2.7 on (include/ruby/internal/value_type.h,
 * fl_type.h; imemo_type in internal/imemo.h).
 */
#pragma once
#include "abi/ruby_layout.h"
#include "mem.h"

#define RUBY_FLAGS 0 /* struct RBasic */
#define RUBY_CLASS 8

#define RUBY_TYPE_MASK  0x1fULL
#define RUBY_T_CLASS    0x02
#define RUBY_T_MODULE   0x03
#define RUBY_T_STRING   0x05
#define RUBY_T_ARRAY    0x07
#define RUBY_T_IMEMO    0x1a
#define RUBY_T_ICLASS   0x1c
#define RUBY_USER_SHIFT 12 /* FL_USHIFT: flags whose meaning depends on the type */

/* enum imemo_type: objects that programs never see. */
#define RUBY_IMEMO_MASK 0xf01fULL
#define RUBY_IMEMO(n)   (RUBY_T_IMEMO | (u64)(n) << RUBY_USER_SHIFT)
#define RUBY_IMEMO_ENV  RUBY_IMEMO(0)
#define RUBY_IMEMO_SVAR RUBY_IMEMO(2)
#define RUBY_IMEMO_MENT RUBY_IMEMO(6)
#define RUBY_IMEMO_ISEQ RUBY_IMEMO(7)

static inline int ruby_read(struct mem *mem, u64 *out_value, u64 object, u16 field)
{
	return mem_read(mem, out_value, sizeof *out_value, object + field);
}

/* Reads an int or an unsigned int. */
static inline int ruby_read_int(struct mem *mem, u32 *out_value, u64 object, u16 field)
{
	return mem_read(mem, out_value, sizeof *out_value, object + field);
}

/* Objects have no lower addresses; nil, true and false of all versions are below. */
#define RUBY_OBJECTS_BEGIN 0x1000ULL

static inline int ruby_is_object(u64 value)
{
	return (value & 7) == 0 && value >= RUBY_OBJECTS_BEGIN;
}

/* The flags of an object; 0 if it is none: no object's type is 0. */
static inline u64 ruby_flags_of(struct mem *mem, u64 value)
{
	u64 flags;

	return ruby_is_object(value) && ruby_read(mem, &flags, value, RUBY_FLAGS) >= 0 ? flags
										       : 0;
}

static inline int ruby_is_imemo(struct mem *mem, u64 value, u64 imemo)
{
	return (ruby_flags_of(mem, value) & RUBY_IMEMO_MASK) == imemo;
}
