/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * cfa_row - how to compute a frame's CFA and find the saved registers, at one address.
 *
 * The CFA (canonical frame address) is the stack pointer's value before the call, and the
 * fixed point of a frame: compilers describe, for each range of instructions, how to
 * compute it and at what distance from it the caller's registers were saved.  A row is one
 * such description; all it has of a processor is register numbers.
 */
#pragma once
#include "abi/types.h"

/* The registers that are followed; all others are skipped when rules are read. */
enum cfa_column {
	CFA_COLUMN_FP,
	CFA_COLUMN_BX,
	CFA_COLUMN_RA,
	CFA_COLUMN_SP,
	CFA_COLUMN_COUNT
};

enum cfa_place_kind {
	CFA_PLACE_SAME,      /* the callee did not touch it */
	CFA_PLACE_AT_CFA,    /* saved at CFA + offset */
	CFA_PLACE_AT_REG,    /* saved at reg + offset */
	CFA_PLACE_IS_CFA,    /* its value is CFA + offset */
	CFA_PLACE_IN_REG,    /* it is in another register */
	CFA_PLACE_UNDEFINED, /* it is lost; a lost return address marks the outermost frame */
	CFA_PLACE_UNKNOWN,   /* an expression we do not evaluate */
};

/* Where one register of the caller is. */
struct cfa_place {
	u8 kind;
	u8 reg;
	s32 offset;
};

enum cfa_base_kind {
	CFA_BASE_NONE,
	CFA_BASE_REG,     /* CFA = reg + offset */
	CFA_BASE_DEREF,   /* CFA = *(reg + offset) + add */
	CFA_BASE_DEREF2,  /* CFA = **(reg + offset) + add */
	CFA_BASE_PLT,     /* CFA = sp + 8 + ((ip & 15) >= offset ? 8 : 0) */
	CFA_BASE_UNKNOWN, /* an expression we do not evaluate */
};

struct cfa_base {
	u8 kind;
	u8 reg;
	u16 add;
	s32 offset;
};

struct cfa_row {
	struct cfa_base cfa;
	struct cfa_place column[CFA_COLUMN_COUNT];
};
