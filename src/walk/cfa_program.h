/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * cfa_program - runs the CFA programs that compute an address's row.
 *
 * A program is a list of instructions that edit a row; "advance" instructions say from which
 * address on the edited row holds.  The program of a CIE makes the row that all its functions
 * begin with, and the program of an FDE continues from there.  The row of an address is the one
 * reached when the next advance would pass the address.  (DWARF 5, section 6.4.)
 */
#pragma once
#include "cfa_edit.h"
#include "cfa_expression.h"
#include "eh_bytes.h"

/* The longest program in Debian 12's compilers and interpreters has under 8,000. */
#define CFA_INSTRUCTIONS_MAX 32768

enum {
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_MIPS_ADVANCE_LOC8 = 0x1d,
	CFA_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
	CFA_AARCH64_NEGATE_RA_STATE = 0x2d, /* and GNU_window_save elsewhere */
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
	CFA_ADVANCE_LOC = 0x40, /* the delta is in the low six bits */
	CFA_OFFSET = 0x80,      /* the register is in the low six bits */
	CFA_RESTORE = 0xc0,
};

/* Instructions whose operand is in the low six bits of their first byte. */
static inline void cfa_step_short(struct cfa_program *p, struct eh_bytes *b, u8 op)
{
	u8 low = op & 0x3f;

	if ((op & 0xc0) == CFA_ADVANCE_LOC)
		cfa_advance(p, low);
	else if ((op & 0xc0) == CFA_OFFSET)
		cfa_set_place(p, low, CFA_PLACE_AT_CFA, 0,
			      cfa_factored(p, (s64)eh_bytes_uleb(b)));
	else
		cfa_restore(p, low);
}

static inline void cfa_step_advance(struct cfa_program *p, struct eh_bytes *b, u8 op)
{
	u64 location;

	switch (op) {
	case CFA_ADVANCE_LOC1:
		cfa_advance(p, eh_bytes_u8(b));
		break;
	case CFA_ADVANCE_LOC2:
		cfa_advance(p, eh_bytes_unsigned(b, 2));
		break;
	case CFA_ADVANCE_LOC4:
		cfa_advance(p, eh_bytes_unsigned(b, 4));
		break;
	case CFA_MIPS_ADVANCE_LOC8:
		cfa_advance(p, eh_bytes_unsigned(b, 8));
		break;
	default: /* CFA_SET_LOC */
		location = eh_bytes_pointer(b, p->pointer_encoding, 0);
		p->is_past = location > p->lookup;
		p->location = location;
		break;
	}
}

static inline void cfa_step_base(struct cfa_program *p, struct eh_bytes *b, u8 op)
{
	u64 reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = eh_bytes_uleb(b);
		cfa_set_base(p, reg, (s64)eh_bytes_uleb(b));
		break;
	case CFA_DEF_CFA_SF:
		reg = eh_bytes_uleb(b);
		cfa_set_base(p, reg, cfa_factored(p, eh_bytes_sleb(b)));
		break;
	case CFA_DEF_CFA_REGISTER:
		cfa_set_base_register(p, eh_bytes_uleb(b));
		break;
	case CFA_DEF_CFA_OFFSET:
		cfa_set_base_offset(p, (s64)eh_bytes_uleb(b));
		break;
	case CFA_DEF_CFA_OFFSET_SF:
		cfa_set_base_offset(p, cfa_factored(p, eh_bytes_sleb(b)));
		break;
	default: /* CFA_DEF_CFA_EXPRESSION */
		cfa_def_cfa_expression(p, b);
		break;
	}
}

/* Instructions of the shape (register, offset in units of data_align). */
static inline void cfa_step_offset(struct cfa_program *p, struct eh_bytes *b, u8 op)
{
	u64 reg = eh_bytes_uleb(b);
	int is_signed = op == CFA_OFFSET_EXTENDED_SF || op == CFA_VAL_OFFSET_SF;
	int is_value = op == CFA_VAL_OFFSET || op == CFA_VAL_OFFSET_SF;
	s64 factor = is_signed ? eh_bytes_sleb(b) : (s64)eh_bytes_uleb(b);
	s64 offset = cfa_factored(p, factor);

	if (op == CFA_GNU_NEGATIVE_OFFSET_EXTENDED &&
	    __builtin_sub_overflow(0, offset, &offset))
		p->is_bad = 1;
	cfa_set_place(p, reg, is_value ? CFA_PLACE_IS_CFA : CFA_PLACE_AT_CFA, 0, offset);
}

static inline void cfa_step_register(struct cfa_program *p, struct eh_bytes *b, u8 op)
{
	u64 reg = eh_bytes_uleb(b);

	switch (op) {
	case CFA_RESTORE_EXTENDED:
		cfa_restore(p, reg);
		break;
	case CFA_UNDEFINED:
		cfa_set_place(p, reg, CFA_PLACE_UNDEFINED, 0, 0);
		break;
	case CFA_SAME_VALUE:
		cfa_set_place(p, reg, CFA_PLACE_SAME, 0, 0);
		break;
	default: /* CFA_REGISTER */
		cfa_set_place(p, reg, CFA_PLACE_IN_REG, eh_bytes_uleb(b), 0);
		break;
	}
}

static inline void cfa_step_long(struct cfa_program *p, struct eh_bytes *b, u8 op)
{
	switch (op) {
	case CFA_NOP:
	/* The signature is removed from every return address, so its state is not followed. */
	case CFA_AARCH64_NEGATE_RA_STATE:
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		break;
	case CFA_SET_LOC:
	case CFA_ADVANCE_LOC1:
	case CFA_ADVANCE_LOC2:
	case CFA_ADVANCE_LOC4:
	case CFA_MIPS_ADVANCE_LOC8:
		cfa_step_advance(p, b, op);
		break;
	case CFA_RESTORE_EXTENDED:
	case CFA_UNDEFINED:
	case CFA_SAME_VALUE:
	case CFA_REGISTER:
		cfa_step_register(p, b, op);
		break;
	case CFA_OFFSET_EXTENDED:
	case CFA_OFFSET_EXTENDED_SF:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		cfa_step_offset(p, b, op);
		break;
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_OFFSET_SF:
	case CFA_DEF_CFA_EXPRESSION:
		cfa_step_base(p, b, op);
		break;
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		cfa_register_expression(p, b, op == CFA_VAL_EXPRESSION);
		break;
	case CFA_REMEMBER_STATE:
		cfa_remember(p);
		break;
	case CFA_RESTORE_STATE:
		cfa_recall(p);
		break;
	case CFA_GNU_ARGS_SIZE:
		eh_bytes_uleb(b);
		break;
	default:
		p->is_bad = 1;
		break;
	}
}

/* Runs the program in the bytes b up to the row of p->lookup; negative if it is damaged. */
static inline int cfa_program_run(struct cfa_program *p, struct eh_bytes *b)
{
	for (u32 i = 0; i < CFA_INSTRUCTIONS_MAX; i++) {
		if (b->failed || p->is_bad)
			return -1;
		if (b->at >= b->end || p->is_past)
			return 0;
		u8 op = eh_bytes_u8(b);
		if (op & 0xc0)
			cfa_step_short(p, b, op);
		else
			cfa_step_long(p, b, op);
	}
	return -1;
}
