/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * cfa_edit - the state of a CFA program, and the edits its instructions make.
 *
 * The including file defines which registers are followed, cfa_column_of_register(), and which
 * registers are saved only by functions that go to a landing pad, cfa_eh_data_of_register().
 */
#pragma once
#include "cfa_row.h"

static inline enum cfa_column cfa_column_of_register(u64 reg);
/* A bit for each register that __builtin_eh_return() sets for a landing pad; 0: not one of them. */
static inline u8 cfa_eh_data_of_register(u64 reg);

/* gcc nests two of them at most; each costs 40 bytes of a 512-byte kernel stack. */
#define CFA_REMEMBERED_MAX 4

struct cfa_program {
	struct cfa_row row;
	struct cfa_row initial; /* the row that DW_CFA_restore restores from */
	struct cfa_row remembered[CFA_REMEMBERED_MAX];
	u32 remembered_count;
	u32 code_align;
	s32 data_align;
	u8 pointer_encoding;
	u8 is_past; /* the address has been passed: row is its row */
	u8 is_bad;
	u8 eh_data; /* bits of cfa_eh_data_of_register() for saved registers */
	u64 location;
	u64 lookup;
};

static inline s32 cfa_s32(struct cfa_program *p, s64 value)
{
	if (value != (s32)value)
		p->is_bad = 1;
	return (s32)value;
}

/* Both factors are small, so no product overflows (BPF cannot check one of 64 bits). */
static inline s64 cfa_factored(struct cfa_program *p, s64 factor)
{
	return cfa_s32(p, factor) * (s64)p->data_align;
}

static inline u8 cfa_register_number(u64 reg)
{
	return reg < 0xff ? (u8)reg : 0xff;
}

static inline void cfa_set_place(struct cfa_program *p, u64 reg, enum cfa_place_kind kind,
				 u64 in_reg, s64 offset)
{
	enum cfa_column column = cfa_column_of_register(reg);

	if (column >= CFA_COLUMN_COUNT) {
		p->eh_data |= cfa_eh_data_of_register(reg);
		return;
	}
	p->row.column[column] = (struct cfa_place){
		.kind = (u8)kind,
		.reg = cfa_register_number(in_reg),
		.offset = cfa_s32(p, offset),
	};
}

static inline void cfa_restore(struct cfa_program *p, u64 reg)
{
	enum cfa_column column = cfa_column_of_register(reg);

	if (column < CFA_COLUMN_COUNT)
		p->row.column[column] = p->initial.column[column];
}

static inline void cfa_set_base(struct cfa_program *p, u64 reg, s64 offset)
{
	p->row.cfa = (struct cfa_base){
		.kind = CFA_BASE_REG,
		.reg = cfa_register_number(reg),
		.offset = cfa_s32(p, offset),
	};
}

static inline void cfa_set_base_register(struct cfa_program *p, u64 reg)
{
	if (p->row.cfa.kind != CFA_BASE_REG)
		p->is_bad = 1;
	p->row.cfa.reg = cfa_register_number(reg);
}

static inline void cfa_set_base_offset(struct cfa_program *p, s64 offset)
{
	if (p->row.cfa.kind != CFA_BASE_REG)
		p->is_bad = 1;
	p->row.cfa.offset = cfa_s32(p, offset);
}

static inline void cfa_remember(struct cfa_program *p)
{
	if (p->remembered_count >= CFA_REMEMBERED_MAX) {
		p->is_bad = 1;
		return;
	}
	p->remembered[p->remembered_count++] = p->row;
}

static inline void cfa_recall(struct cfa_program *p)
{
	if (p->remembered_count == 0 || p->remembered_count > CFA_REMEMBERED_MAX) {
		p->is_bad = 1;
		return;
	}
	p->row = p->remembered[--p->remembered_count];
}

/* A delta that is too large or wraps around passes every address. */
static inline void cfa_advance(struct cfa_program *p, u64 delta)
{
	u64 location;

	if (delta > 0xffffffff ||
	    __builtin_add_overflow(p->location, delta * p->code_align, &location) ||
	    location > p->lookup)
		p->is_past = 1;
	else
		p->location = location;
}
