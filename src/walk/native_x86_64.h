/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * native_x86_64 - takes a step of a walk by an unwind rule, on x86-64 (System V ABI).
 */
#pragma once
#include "abi/walk_status.h"
#include "mem.h"
#include "native_regs.h"
#include "native_x86_64_rule.h"

static inline int x86_read_u64(struct mem *mem, u64 addr, u64 *out_value)
{
	return mem_read(mem, out_value, sizeof *out_value, addr);
}

static inline u64 x86_rule_offset(u64 rule)
{
	return (u64)native_field(rule, X86_OFFSET_SHIFT, X86_OFFSET_BITS);
}

/* The CFA of the forms that need more than one register and one addition. */
static inline enum walk_status x86_cfa_rare(struct mem *mem, u64 rule,
					    const struct native_regs *regs, u64 *out_cfa)
{
	u64 base = regs->sp;

	switch (rule & 15) {
	case X86_FORM_LEAF:
		*out_cfa = regs->lr + x86_rule_offset(rule);
		return regs->lr != 0 ? WALK_COMPLETE : WALK_BAD_RULE;
	case X86_FORM_RETURN_LEAF:
		*out_cfa = regs->sp + x86_rule_offset(rule);
		return regs->lr != 0 ? WALK_COMPLETE : WALK_BAD_RULE;
	case X86_FORM_PLT:
		*out_cfa = regs->sp + 8 + ((regs->ip & 15) >= x86_rule_offset(rule) ? 8 : 0);
		return WALK_COMPLETE;
	case X86_FORM_DEREF_SP:
	case X86_FORM_DEREF2_SP:
		break;
	case X86_FORM_DEREF_FP:
		base = regs->fp;
		break;
	case X86_FORM_DEREF_BX:
		base = regs->bx;
		break;
	default:
		return WALK_BAD_RULE;
	}
	base += (u64)native_field(rule, X86_DEREF_SHIFT, X86_DEREF_BITS) * 8;
	if (x86_read_u64(mem, base, out_cfa) < 0 ||
	    ((rule & 15) == X86_FORM_DEREF2_SP && x86_read_u64(mem, *out_cfa, out_cfa) < 0))
		return WALK_UNREADABLE;
	*out_cfa += (rule >> X86_ADD_SHIFT & 15) * 8;
	return WALK_COMPLETE;
}

static inline enum walk_status x86_cfa(struct mem *mem, u64 rule,
				       const struct native_regs *regs, u64 *out_cfa)
{
	switch (rule & 15) {
	case X86_FORM_SP:
		*out_cfa = regs->sp + x86_rule_offset(rule);
		return WALK_COMPLETE;
	case X86_FORM_FP:
		*out_cfa = regs->fp + x86_rule_offset(rule);
		return regs->fp != X86_FP_GONE ? WALK_COMPLETE : WALK_UNWINDING;
	case X86_FORM_BX:
		*out_cfa = regs->bx + x86_rule_offset(rule);
		return WALK_COMPLETE;
	default:
		return x86_cfa_rare(mem, rule, regs, out_cfa);
	}
}

/* Whether a register is saved in memory; *out_slot: where. */
static inline int x86_saved_slot(u64 rule, u32 shift, const struct native_regs *regs, u64 cfa,
				 u64 *out_slot)
{
	u64 saved = rule >> shift & ((1 << X86_SAVED_BITS) - 1);
	u64 base = cfa;

	if (saved == X86_SAVED_NOT || saved == X86_SAVED_LANDING || saved == X86_SAVED_LOST)
		return 0;
	if (saved >> X86_SAVED_SLOT_BITS == X86_SAVED_AT_SP)
		base = regs->sp;
	else if (saved >> X86_SAVED_SLOT_BITS == X86_SAVED_AT_FP)
		base = regs->fp;
	*out_slot = base + (u64)native_field(rule, shift, X86_SAVED_SLOT_BITS) * 8;
	return 1;
}

/* Slots of an epilogue lie at most so far below the stack pointer. */
#define X86_POPPED_BYTES 128

/*
 * The caller's value of a register; *value has the callee's, which stays if it was not saved.  In
 * an epilogue, rules give slots of registers that were popped already: these lie below the stack
 * pointer, where a copied stack has nothing, and the register has its value again.
 */
static inline int x86_restore(struct mem *mem, u64 rule, u32 shift,
			      const struct native_regs *regs, u64 cfa, u64 *value)
{
	u64 slot, found;

	if (!x86_saved_slot(rule, shift, regs, cfa, &slot)) {
		if ((rule >> shift & ((1 << X86_SAVED_BITS) - 1)) == X86_SAVED_LOST)
			*value = 0;
		return 0;
	}
	if (x86_read_u64(mem, slot, &found) < 0)
		return slot < regs->sp && regs->sp - slot <= X86_POPPED_BYTES ? 0 : -1;
	*value = found;
	return 0;
}

static inline int x86_return_address(struct mem *mem, u64 rule, const struct native_regs *regs,
				     u64 cfa, u64 *out_ip)
{
	u64 form = rule & 15;
	u64 slot;

	if (form == X86_FORM_RETURN_LEAF) {
		*out_ip = regs->lr;
		return 0;
	}
	if ((form >= X86_FORM_DEREF_SP && form <= X86_FORM_DEREF_BX) ||
	    form == X86_FORM_DEREF2_SP)
		return x86_saved_slot(rule, X86_RA_SHIFT, regs, cfa, &slot)
			       ? x86_read_u64(mem, slot, out_ip)
			       : 0;
	return x86_read_u64(mem, cfa - 8, out_ip);
}

/*
 * Only two sorts of frames may lead to another stack: signal frames, and those whose rule finds
 * the caller's frame in memory or rbx, as code does that has switched stacks (OCaml 5's, to call
 * C).  Only a function that has popped its return address into a register (vfork) stays where it
 * is.
 */
static inline int x86_is_outwards(u64 rule, u64 sp, u64 cfa)
{
	const u64 form = rule & 15;

	if (rule & X86_SIGNAL_FRAME)
		return 1;
	if ((cfa & 7) != 0)
		return 0;
	if (form >= X86_FORM_BX && form != X86_FORM_LEAF && form != X86_FORM_RETURN_LEAF &&
	    form != X86_FORM_PLT && !native_rule_is_guess(rule))
		return cfa != sp;
	return cfa > sp || (cfa == sp && form == X86_FORM_RETURN_LEAF);
}

/*
 * Takes one step outwards: the stack pointer must move outwards.  The caller bounds how far and
 * how often: mem_read() refuses memory that is not the stack, and the caller counts.  A return
 * address of 0 marks the outermost frame, too (in threads created by hand).
 */
static inline enum walk_status native_step(struct mem *mem, u64 rule, struct native_regs *regs,
					   struct native_step *out_step)
{
	struct native_regs next = { .fp = regs->fp, .bx = regs->bx };
	enum walk_status status;

	if ((rule & 15) == X86_FORM_LAST) {
		*out_step = (struct native_step){
			.is_last = 1,
			.is_signal = (rule & X86_SIGNAL_FRAME) != 0,
		};
		return WALK_COMPLETE;
	}
	status = x86_cfa(mem, rule, regs, &next.sp);
	if (status != WALK_COMPLETE)
		return status;
	if (!x86_is_outwards(rule, regs->sp, next.sp))
		return WALK_NO_PROGRESS;
	if (x86_return_address(mem, rule, regs, next.sp, &next.ip) < 0 ||
	    x86_restore(mem, rule, X86_FP_SHIFT, regs, next.sp, &next.fp) < 0 ||
	    x86_restore(mem, rule, X86_BX_SHIFT, regs, next.sp, &next.bx) < 0)
		return WALK_UNREADABLE;
	if (next.ip == 0) {
		*out_step = (struct native_step){ .is_last = 1 };
		return WALK_COMPLETE;
	}
	*regs = next;
	*out_step = (struct native_step){
		.is_exact = (rule & X86_SIGNAL_FRAME) != 0 || x86_rule_is_landing(rule),
		.is_signal = (rule & X86_SIGNAL_FRAME) != 0,
	};
	return WALK_COMPLETE;
}
