/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * cfa_expression - recognises the DWARF expressions that occur in unwind rules.
 *
 * DWARF allows any computation; compilers, linkers and assembler programmers use a few forms.
 * These are matched, not evaluated; any other makes the rule unknown.
 */
#pragma once
#include "cfa_edit.h"
#include "eh_bytes.h"

/* The operations of those forms. */
enum {
	CFA_OP_DEREF = 0x06,
	CFA_OP_PLUS = 0x22,
	CFA_OP_PLUS_UCONST = 0x23,
	CFA_OP_LIT0 = 0x30,
	CFA_OP_LIT31 = 0x4f,
	CFA_OP_BREG0 = 0x70,
	CFA_OP_BREG31 = 0x8f,
};

/*
 * The stubs of a procedure linkage table share one rule: the second half of each 16-byte
 * stub runs with one more word on the stack.  Only the literal in the middle differs
 * between linkers: where that half begins.
 *
 *	breg7 (rsp) 8, breg16 (rip) 0, lit15, and, lit<threshold>, ge, lit3, shl, plus
 *
 * On i386, whose includer defines it so, registers and sizes are others.
 */
#ifndef CFA_PLT_FORM
#define CFA_PLT_FORM                                                    \
	{                                                               \
		0x77, 8, 0x80, 0, 0x3f, 0x1a, 0, 0x2a, 0x33, 0x24, 0x22 \
	}
#endif
static inline struct cfa_base cfa_base_plt(struct eh_bytes *b)
{
	static const u8 form[11] = CFA_PLT_FORM;
	struct cfa_base base = { .kind = CFA_BASE_PLT };

	for (u32 i = 0; i < sizeof form; i++) {
		u8 byte = eh_bytes_u8(b);
		if (i == 6 && byte >= CFA_OP_LIT0 && byte <= CFA_OP_LIT31)
			base.offset = byte - CFA_OP_LIT0;
		else if (byte != form[i])
			base.kind = CFA_BASE_UNKNOWN;
	}
	return base;
}

/* Reads "reg + offset"; more may follow before end. */
static inline int cfa_expression_base(struct eh_bytes *b, u64 end, u8 *out_reg, s64 *out_offset)
{
	u8 op = eh_bytes_u8(b);

	if (op < CFA_OP_BREG0 || op > CFA_OP_BREG31)
		return 0;
	*out_reg = (u8)(op - CFA_OP_BREG0);
	*out_offset = eh_bytes_sleb(b);
	return b->at <= end;
}

/*
 * Reads the number added at the end: plus_uconst, or lit<n> and plus, as in SBCL.  False:
 * neither.
 */
static inline int cfa_expression_add(struct eh_bytes *b, u64 *out_add)
{
	u8 op = eh_bytes_u8(b);

	if (op == CFA_OP_PLUS_UCONST) {
		*out_add = eh_bytes_uleb(b);
		return 1;
	}
	*out_add = (u64)op - CFA_OP_LIT0;
	return op >= CFA_OP_LIT0 && op <= CFA_OP_LIT31 && eh_bytes_u8(b) == CFA_OP_PLUS;
}

/*
 * Matches reg + offset, *(reg + offset), *(reg + offset) + add, and **(reg + offset) + add, which
 * OCaml 5 uses where it has switched from one stack to another.
 */
static inline struct cfa_base cfa_base_deref(struct cfa_program *p, struct eh_bytes *b, u64 end)
{
	struct cfa_base base = { .kind = CFA_BASE_UNKNOWN };
	s64 offset;
	u64 add = 0;

	if (!cfa_expression_base(b, end, &base.reg, &offset))
		return base;
	base.offset = cfa_s32(p, offset);
	if (b->at == end) {
		base.kind = CFA_BASE_REG;
		return base;
	}
	if (eh_bytes_u8(b) != CFA_OP_DEREF)
		return base;
	if (b->at < end && !cfa_expression_add(b, &add))
		return base;
	const int is_twice = b->at < end;

	if (is_twice && (add != 0 || eh_bytes_u8(b) != CFA_OP_DEREF))
		return base;
	if (is_twice && b->at < end && !cfa_expression_add(b, &add))
		return base;
	if (b->at == end && add <= 0xffff) {
		base.add = (u16)add;
		base.kind = is_twice ? CFA_BASE_DEREF2 : CFA_BASE_DEREF;
	}
	return base;
}

static inline void cfa_def_cfa_expression(struct cfa_program *p, struct eh_bytes *b)
{
	u64 len = eh_bytes_uleb(b);
	u64 begin = b->at;
	u64 end;

	if (__builtin_add_overflow(begin, len, &end) || end > b->end) {
		p->is_bad = 1;
		return;
	}
	p->row.cfa = (struct cfa_base){ .kind = CFA_BASE_UNKNOWN };
	if (len == 11)
		p->row.cfa = cfa_base_plt(b);
	if (p->row.cfa.kind == CFA_BASE_UNKNOWN) {
		b->at = begin;
		p->row.cfa = cfa_base_deref(p, b, end);
	}
	b->at = end;
}

static inline void cfa_register_expression(struct cfa_program *p, struct eh_bytes *b,
					   int is_value)
{
	u64 reg = eh_bytes_uleb(b);
	u64 len = eh_bytes_uleb(b);
	u64 end;
	u8 in_reg = 0;
	s64 offset = 0;
	enum cfa_place_kind kind = CFA_PLACE_UNKNOWN;

	if (__builtin_add_overflow(b->at, len, &end) || end > b->end) {
		p->is_bad = 1;
		return;
	}
	if (!is_value && len > 0 && cfa_column_of_register(reg) < CFA_COLUMN_COUNT &&
	    cfa_expression_base(b, end, &in_reg, &offset) && b->at == end)
		kind = CFA_PLACE_AT_REG;
	cfa_set_place(p, reg, kind, in_reg, offset);
	b->at = end;
}
