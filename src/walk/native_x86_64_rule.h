/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * native_x86_64_rule - unwind rules for x86-64 (System V ABI), packed into 64 bits.
 *
 * A rule is a packed row.  The registers followed are rip, rsp, rbp and rbx (ld.so's resolver has
 * its CFA in rbx).  Nearly all rows have CFA = register + offset, the return address at CFA - 8,
 * and rbp and rbx unchanged or saved near the CFA:
 *
 *	bits 0-3 form    4-15 where rbp is    16-27 where rbx is    28-32 leaf register
 *	bits 33-62 offset in bytes            63 signal frame
 *
 * (Register numbers are below 16, so bit 32 is free, and marks a guess.  Without a leaf register,
 * bit 28 marks X86_EH_RETURN: native_x86_64_eh_return.h)
 *
 * Other rows (stacks realigned by gcc or OpenSSL, signal frames) have CFA = *(register + offset)
 * + add, and the return address may be anywhere:
 *
 *	bits 28-39 where rip is    40-43 add / 8    44 a guess
 *	45-62 offset / 8    63 signal frame
 *
 * A guess is a rule derived from the instructions of code without rules (native_x86_64_scan.h).
 */
#pragma once
#include "abi/walk_status.h"
#include "cfa_row.h"
#include "mem.h"
#include "native_regs.h"

enum {
	X86_RBX = 3,
	X86_RBP = 6,
	X86_RSP = 7,
	X86_RIP = 16,
};

/* The order matters: forms up to X86_FORM_RETURN_LEAF have the first layout. */
enum x86_form {
	X86_FORM_NONE,
	X86_FORM_SP,
	X86_FORM_FP,
	X86_FORM_BX,
	X86_FORM_LEAF,        /* CFA = leaf register + offset */
	X86_FORM_RETURN_LEAF, /* CFA = rsp + offset, rip is in the leaf register */
	X86_FORM_DEREF_SP,
	X86_FORM_DEREF_FP,
	X86_FORM_DEREF_BX,
	X86_FORM_PLT,  /* CFA = rsp + 8, and 8 more if (rip & 15) >= offset */
	X86_FORM_LAST, /* the outermost frame */
	X86_FORM_DEREF2_SP,
};

/* "Where" a register is: two bits of these, ten bits of a signed offset / 8. */
enum x86_saved {
	X86_SAVED_NOT,
	X86_SAVED_AT_CFA,
	X86_SAVED_AT_SP,
	X86_SAVED_AT_FP,
};

#define X86_SAVED_BITS      12
#define X86_SAVED_SLOT_BITS 10
#define X86_SAVED_LOST      ((u64)X86_SAVED_AT_CFA << 10 | 0x200)
/* For rbx: unchanged, and this frame returns by a jump to a landing pad, at any instruction. */
#define X86_SAVED_LANDING ((u64)X86_SAVED_AT_CFA << 10 | 0x201)
#define X86_FP_SHIFT      4
#define X86_BX_SHIFT      16
#define X86_LEAF_SHIFT    28
#define X86_OFFSET_SHIFT  33
#define X86_OFFSET_BITS   30
#define X86_RA_SHIFT      28
#define X86_ADD_SHIFT     40
#define X86_ADD_BITS      4
#define X86_DEREF_SHIFT   45
#define X86_DEREF_BITS    18
#define X86_SIGNAL_FRAME  (1ULL << 63)
/* The function contains __builtin_eh_return(). */
#define X86_EH_RETURN (1ULL << X86_LEAF_SHIFT)
/* The value of regs.fp after an exception has replaced rbp: not a frame. */
#define X86_FP_GONE 1

/* rt_sigreturn's frame: struct ucontext is at rsp (arch/x86/include/uapi/asm/ucontext.h,
 * sigcontext.h). */
#define X86_UCONTEXT_RBP 120
#define X86_UCONTEXT_RBX 128
#define X86_UCONTEXT_RSP 160
#define X86_UCONTEXT_RIP 168

#define CFA_RA_REGISTER X86_RIP

static inline enum cfa_column cfa_column_of_register(u64 reg)
{
	switch (reg) {
	case X86_RBX:
		return CFA_COLUMN_BX;
	case X86_RBP:
		return CFA_COLUMN_FP;
	case X86_RSP:
		return CFA_COLUMN_SP;
	case X86_RIP:
		return CFA_COLUMN_RA;
	default:
		return CFA_COLUMN_COUNT;
	}
}

/* Only functions with __builtin_eh_return() save rax and rdx: a landing pad's arguments. */
#define CFA_EH_DATA 3

static inline u8 cfa_eh_data_of_register(u64 reg)
{
	return reg < 2 ? (u8)(1 << reg) : 0;
}

static inline u64 x86_saved(enum x86_saved where, s64 offset, u8 *is_bad)
{
	return (u64)where << X86_SAVED_SLOT_BITS |
	       native_slots(offset, 0, X86_SAVED_SLOT_BITS, is_bad);
}

/*
 * Packs where a register is.  One that cannot be recovered is marked as lost, and the rule stays
 * valid: most frames further out do not need the register, and one that does stops the walk.
 */
static inline u64 x86_pack_place(struct cfa_place place)
{
	u8 is_bad = 0;
	u64 saved = X86_SAVED_LOST;

	switch (place.kind) {
	case CFA_PLACE_SAME:
		return X86_SAVED_NOT;
	case CFA_PLACE_AT_CFA:
		saved = x86_saved(X86_SAVED_AT_CFA, place.offset, &is_bad);
		break;
	case CFA_PLACE_AT_REG:
		if (place.reg == X86_RSP)
			saved = x86_saved(X86_SAVED_AT_SP, place.offset, &is_bad);
		else if (place.reg == X86_RBP)
			saved = x86_saved(X86_SAVED_AT_FP, place.offset, &is_bad);
		break;
	default:
		break;
	}
	return is_bad ? X86_SAVED_LOST : saved;
}

static inline enum x86_form x86_form_of(struct cfa_base base)
{
	int is_deref = base.kind == CFA_BASE_DEREF;

	if (base.kind == CFA_BASE_DEREF2)
		return base.reg == X86_RSP ? X86_FORM_DEREF2_SP : X86_FORM_NONE;

	switch (base.reg) {
	case X86_RSP:
		return is_deref ? X86_FORM_DEREF_SP : X86_FORM_SP;
	case X86_RBP:
		return is_deref ? X86_FORM_DEREF_FP : X86_FORM_FP;
	case X86_RBX:
		return is_deref ? X86_FORM_DEREF_BX : X86_FORM_BX;
	default:
		return is_deref || base.reg >= X86_RIP ? X86_FORM_NONE : X86_FORM_LEAF;
	}
}

static inline u64 x86_pack_offset(s64 offset, u8 *is_bad)
{
	if (offset < -(1LL << (X86_OFFSET_BITS - 1)) || offset >= 1LL << (X86_OFFSET_BITS - 1))
		*is_bad = 1;
	return ((u64)offset & ((1ULL << X86_OFFSET_BITS) - 1)) << X86_OFFSET_SHIFT;
}

/* CFA = register + offset.  0 if the row does not fit the form. */
static inline u64 x86_pack_plain(const struct cfa_row *row)
{
	struct cfa_place ra = row->column[CFA_COLUMN_RA];
	u64 form = x86_form_of(row->cfa);
	u64 leaf = row->cfa.reg;
	u8 is_bad = form == X86_FORM_NONE;

	if (ra.kind == CFA_PLACE_IN_REG && form == X86_FORM_SP && ra.reg < X86_RIP) {
		form = X86_FORM_RETURN_LEAF;
		leaf = ra.reg;
	} else if (ra.kind != CFA_PLACE_AT_CFA || ra.offset != -8) {
		return 0;
	}
	if (form != X86_FORM_LEAF && form != X86_FORM_RETURN_LEAF)
		leaf = 0;
	u64 rule = form | leaf << X86_LEAF_SHIFT | x86_pack_offset(row->cfa.offset, &is_bad);
	return is_bad ? 0 : rule;
}

static inline u64 x86_pack_deref(const struct cfa_row *row)
{
	u64 form = x86_form_of(row->cfa);
	u64 ra = x86_pack_place(row->column[CFA_COLUMN_RA]);
	u64 add = row->cfa.add >> 3;
	u8 is_bad = form == X86_FORM_NONE || ra == X86_SAVED_NOT || ra == X86_SAVED_LOST ||
		    (row->cfa.add & 7) != 0 || add >= 1ULL << X86_ADD_BITS;
	u64 rule = form | ra << X86_RA_SHIFT | add << X86_ADD_SHIFT |
		   native_slots(row->cfa.offset, X86_DEREF_SHIFT, X86_DEREF_BITS, &is_bad);

	return is_bad ? 0 : rule;
}

/* A rule for rsp is supported only if it says that the caller's rsp is the CFA. */
static inline int x86_sp_is_cfa(const struct cfa_row *row)
{
	struct cfa_place sp = row->column[CFA_COLUMN_SP];

	switch (sp.kind) {
	case CFA_PLACE_SAME:
		return 1;
	case CFA_PLACE_IS_CFA:
		return sp.offset == 0;
	case CFA_PLACE_AT_REG:
		return row->cfa.kind == CFA_BASE_DEREF && row->cfa.add == 0 &&
		       sp.reg == row->cfa.reg && sp.offset == row->cfa.offset;
	default:
		return 0;
	}
}

/* Packs a row; 0 if it is one we do not support. */
static inline u64 native_rule_pack(const struct cfa_row *row, int is_signal_frame)
{
	u64 rule = 0;

	if (row->column[CFA_COLUMN_RA].kind == CFA_PLACE_UNDEFINED)
		return X86_FORM_LAST;
	if (!x86_sp_is_cfa(row))
		return 0;
	if (row->cfa.kind == CFA_BASE_REG)
		rule = x86_pack_plain(row);
	else if (row->cfa.kind == CFA_BASE_DEREF || row->cfa.kind == CFA_BASE_DEREF2)
		rule = x86_pack_deref(row);
	else if (row->cfa.kind == CFA_BASE_PLT)
		rule = X86_FORM_PLT | (u64)row->cfa.offset << X86_OFFSET_SHIFT;
	if (rule == 0)
		return 0;
	return rule | x86_pack_place(row->column[CFA_COLUMN_FP]) << X86_FP_SHIFT |
	       x86_pack_place(row->column[CFA_COLUMN_BX]) << X86_BX_SHIFT |
	       (is_signal_frame ? X86_SIGNAL_FRAME : 0);
}

/*
 * Marks the rule of a function with __builtin_eh_return().  At its last instructions, when rbp is
 * the landing frame's and the CFA is that frame's stack pointer, the rule for rbx is out of date.
 */
static inline u64 native_rule_mark_eh_return(u64 rule)
{
	const u64 form = rule & 15;
	const u64 fp = rule >> X86_FP_SHIFT & ((1 << X86_SAVED_BITS) - 1);

	if (form == X86_FORM_FP)
		return rule | X86_EH_RETURN;
	if (fp != X86_SAVED_NOT || (form != X86_FORM_LEAF && form != X86_FORM_RETURN_LEAF &&
				    (form != X86_FORM_SP || native_field(rule, X86_OFFSET_SHIFT,
									 X86_OFFSET_BITS) > 8)))
		return rule;
	return (rule & ~(((1ULL << X86_SAVED_BITS) - 1) << X86_BX_SHIFT)) |
	       X86_SAVED_LANDING << X86_BX_SHIFT;
}

static inline int x86_rule_is_landing(u64 rule)
{
	return (rule & 15) <= X86_FORM_RETURN_LEAF &&
	       (rule >> X86_BX_SHIFT & ((1 << X86_SAVED_BITS) - 1)) == X86_SAVED_LANDING;
}

/* The bit that marks a rule of this form as a guess. */
static inline u64 x86_guess_mark(u64 rule)
{
	return 1ULL << ((rule & 15) <= X86_FORM_RETURN_LEAF ? 32 : 44);
}

/* Whether a step by this rule is valid only if native_follows_call() of the new ip. */
static inline int native_rule_is_guess(u64 rule)
{
	return (rule & x86_guess_mark(rule)) != 0;
}

/*
 * Whether the rule is that of a function's first instruction: no code returns to one, since a
 * caller has more on its stack than its return address (psABI: calls align it).
 */
static inline int native_rule_is_entry(u64 rule)
{
	return rule == (X86_FORM_SP | 8ULL << X86_OFFSET_SHIFT);
}

/*
 * The DWARF number of the register whose value the caller must put into regs->lr before a step by
 * this rule in the innermost frame; NATIVE_NO_REGISTER for nearly all rules.
 */
static inline u8 native_rule_leaf_register(u64 rule)
{
	u64 form = rule & 15;

	if (form != X86_FORM_LEAF && form != X86_FORM_RETURN_LEAF)
		return NATIVE_NO_REGISTER;
	return rule >> X86_LEAF_SHIFT & 15;
}
