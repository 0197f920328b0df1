/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * native_aarch64 - unwind rules and steps for aarch64 (AAPCS64, Linux).
 *
 * A rule is a row packed into 64 bits.  The registers followed are pc, sp, x29 (the frame
 * pointer) and x30 (the link register).  A leaf function keeps its return address in x30 and may
 * have no frame; others store x29 and x30 at the bottom of their frame, so these registers'
 * distance from the CFA is the frame's size:
 *
 *	bits 0-3 form    4-19 where x29 is    20-35 where x30 is    36-56 offset / 8
 *	bits 57-61 leaf register              63 signal frame
 *
 * "Where" is a signed distance from the CFA, / 8; its smallest value means "untouched", the next
 * "lost".
 *
 * Return addresses may carry a pointer authentication code in their upper bits, if the function
 * signed them.  These bits are removed from every return address, signed or not: user addresses
 * are below 2^48 (larger ones are only mapped for programs that ask).
 */
#pragma once
#include "abi/walk_status.h"
#include "cfa_row.h"
#include "mem.h"
#include "native_regs.h"

enum {
	A64_FP = 29,
	A64_LR = 30,
	A64_SP = 31,
};

enum a64_form {
	A64_FORM_NONE,
	A64_FORM_SP,
	A64_FORM_FP,
	A64_FORM_SIGNAL, /* the frame the kernel makes for a signal handler */
	A64_FORM_LAST,   /* the outermost frame */
};

#define A64_SLOT_BITS    16
#define A64_SLOT_NOT     0x8000
#define A64_SLOT_LOST    0x8001
#define A64_FP_SHIFT     4
#define A64_LR_SHIFT     20
#define A64_OFFSET_SHIFT 36
#define A64_OFFSET_BITS  21
#define A64_SIGNAL_FRAME (1ULL << 63)
#define A64_ADDRESS_MASK ((1ULL << 48) - 1)

/* struct rt_sigframe is at sp: siginfo (128 bytes), then ucontext with its registers
 * (arch/arm64/include/uapi/asm/sigcontext.h). */
#define A64_SIGFRAME_X0 312
#define A64_SIGFRAME_FP (A64_SIGFRAME_X0 + 8 * 29)
#define A64_SIGFRAME_LR (A64_SIGFRAME_X0 + 8 * 30)
#define A64_SIGFRAME_SP (A64_SIGFRAME_X0 + 8 * 31)
#define A64_SIGFRAME_PC (A64_SIGFRAME_X0 + 8 * 32)

#define CFA_RA_REGISTER A64_LR

static inline enum cfa_column cfa_column_of_register(u64 reg)
{
	switch (reg) {
	case A64_FP:
		return CFA_COLUMN_FP;
	case A64_LR:
		return CFA_COLUMN_RA;
	case A64_SP:
		return CFA_COLUMN_SP;
	default:
		return CFA_COLUMN_COUNT;
	}
}

static inline u64 a64_pack_place(struct cfa_place place)
{
	u8 is_bad = 0;
	u64 slots;

	if (place.kind == CFA_PLACE_SAME)
		return A64_SLOT_NOT;
	if (place.kind != CFA_PLACE_AT_CFA)
		return A64_SLOT_LOST;
	slots = native_slots(place.offset, 0, A64_SLOT_BITS, &is_bad);
	return is_bad || slots == A64_SLOT_NOT || slots == A64_SLOT_LOST ? A64_SLOT_LOST
									 : slots;
}

/* Packs a row; 0 if it is one we do not support. */
static inline u64 native_rule_pack(const struct cfa_row *row, int is_signal_frame)
{
	struct cfa_place sp = row->column[CFA_COLUMN_SP];
	u64 form = A64_FORM_NONE;
	u64 lr;
	u8 is_bad = 0;

	if (row->column[CFA_COLUMN_RA].kind == CFA_PLACE_UNDEFINED)
		return A64_FORM_LAST;
	if (row->cfa.kind == CFA_BASE_REG && row->cfa.reg == A64_SP)
		form = A64_FORM_SP;
	else if (row->cfa.kind == CFA_BASE_REG && row->cfa.reg == A64_FP)
		form = A64_FORM_FP;
	if (form == A64_FORM_NONE ||
	    (sp.kind != CFA_PLACE_SAME && (sp.kind != CFA_PLACE_IS_CFA || sp.offset != 0)))
		return 0;
	lr = a64_pack_place(row->column[CFA_COLUMN_RA]);
	if (lr == A64_SLOT_LOST)
		return 0;
	form |= native_slots(row->cfa.offset, A64_OFFSET_SHIFT, A64_OFFSET_BITS, &is_bad);
	if (is_bad)
		return 0;
	return form | a64_pack_place(row->column[CFA_COLUMN_FP]) << A64_FP_SHIFT |
	       lr << A64_LR_SHIFT | (is_signal_frame ? A64_SIGNAL_FRAME : 0);
}

/* Frames that __builtin_eh_return() has changed are not recognised on this processor. */
#define CFA_EH_DATA 1

static inline u8 cfa_eh_data_of_register(u64 reg)
{
	(void)reg;
	return 0;
}

static inline u64 native_rule_mark_eh_return(u64 rule)
{
	return rule;
}

static inline int native_rule_is_eh_return(u64 rule)
{
	(void)rule;
	return 0;
}

/* No rule of this processor needs another register than those in native_regs. */
static inline u8 native_rule_leaf_register(u64 rule)
{
	(void)rule;
	return NATIVE_NO_REGISTER;
}

/* Recognises rt_sigreturn (mov x8,#139; svc #0) in the vDSO, which has no rules, and in musl. */
static inline u64 native_code_rule(struct mem *mem, u64 lookup)
{
	u32 code[2];

	/* For a return address lookup is one byte before it, in front of the trampoline. */
	if (mem_read(mem, code, sizeof code, (lookup + 3) & ~3ULL) < 0)
		return 0;
	if (code[0] != 0xd2801168 || code[1] != 0xd4000001)
		return 0;
	return A64_FORM_SIGNAL | A64_SIGNAL_FRAME;
}

/* The bottom of stacks that the program made is not recognised on this processor. */
static inline int native_is_stack_bottom(struct mem *mem, u64 at)
{
	(void)mem;
	(void)at;
	return 0;
}

static inline u64 native_stack_bottom_rule(void)
{
	return A64_FORM_LAST;
}

/* Not known on this processor: 0, so that words read later from the stack are not accepted. */
static inline int native_call_may_lead(struct mem *mem, u64 ip, u64 function, u64 *out_other)
{
	(void)mem;
	(void)ip;
	(void)function;
	*out_other = 0;
	return 0;
}

static inline int native_jumps_into(struct mem *mem, const u8 *bytes, u32 len, u64 at,
				    u64 begin, u64 end)
{
	(void)mem;
	(void)bytes;
	(void)len;
	(void)at;
	(void)begin;
	(void)end;
	return 0;
}

/* Not recognised on this processor. */
static inline int native_passes_result_on(struct mem *mem, u64 return_address)
{
	(void)mem;
	(void)return_address;
	return 0;
}

static inline u64 native_last_rule(void)
{
	return A64_FORM_LAST;
}

static inline u64 native_depth_rule(u32 depth)
{
	(void)depth;
	return 0;
}

/* No code is known to run through padding here. */
static inline u64 native_code_skip_padding(struct mem *mem, u64 at)
{
	(void)mem;
	return at;
}

static inline int a64_read_u64(struct mem *mem, u64 addr, u64 *out_value)
{
	return mem_read(mem, out_value, sizeof *out_value, addr);
}

static inline enum walk_status a64_step_signal(struct mem *mem, struct native_regs *regs,
					       struct native_step *out_step)
{
	struct native_regs next = { 0 };

	if (a64_read_u64(mem, regs->sp + A64_SIGFRAME_FP, &next.fp) < 0 ||
	    a64_read_u64(mem, regs->sp + A64_SIGFRAME_LR, &next.lr) < 0 ||
	    a64_read_u64(mem, regs->sp + A64_SIGFRAME_SP, &next.sp) < 0 ||
	    a64_read_u64(mem, regs->sp + A64_SIGFRAME_PC, &next.ip) < 0)
		return WALK_UNREADABLE;
	*regs = next;
	*out_step = (struct native_step){ .is_exact = 1, .is_signal = 1 };
	return WALK_COMPLETE;
}

/* The caller's value of a register; *value has the callee's, which stays if it was not saved. */
static inline int a64_restore(struct mem *mem, u64 rule, u32 shift, u64 cfa, u64 *value)
{
	u64 slot = rule >> shift & ((1 << A64_SLOT_BITS) - 1);

	if (slot == A64_SLOT_NOT)
		return 0;
	if (slot == A64_SLOT_LOST) {
		*value = 0;
		return 0;
	}
	cfa += (u64)native_field(rule, shift, A64_SLOT_BITS) * 8;
	return a64_read_u64(mem, cfa, value);
}

/*
 * Takes one step outwards.  The stack pointer must move outwards, except out of a signal frame,
 * whose handler may have run on another stack, and out of a leaf without a frame, whose return
 * address is in x30, which the step clears.  The caller bounds how far and how often: mem_read()
 * refuses memory that is not the stack, and the caller counts.  A return address of 0 marks the
 * outermost frame, too.
 */
static inline enum walk_status native_step(struct mem *mem, u64 rule, struct native_regs *regs,
					   struct native_step *out_step)
{
	struct native_regs next = { .ip = regs->lr, .fp = regs->fp };
	u8 is_signal_frame = (rule & A64_SIGNAL_FRAME) != 0;
	int is_leaf = (rule >> A64_LR_SHIFT & 0xffff) == A64_SLOT_NOT;
	u64 form = rule & 15;

	if (form == A64_FORM_LAST) {
		*out_step = (struct native_step){ .is_last = 1 };
		return WALK_COMPLETE;
	}
	if (form == A64_FORM_SIGNAL)
		return a64_step_signal(mem, regs, out_step);
	if (form != A64_FORM_SP && form != A64_FORM_FP)
		return WALK_BAD_RULE;
	next.sp = (form == A64_FORM_SP ? regs->sp : regs->fp) +
		  (u64)native_field(rule, A64_OFFSET_SHIFT, A64_OFFSET_BITS) * 8;
	/* x30 was cleared by a step: a frame that is not the innermost must have saved its own. */
	if (is_leaf && regs->lr == 0)
		return WALK_NO_PROGRESS;
	if (!is_signal_frame &&
	    (next.sp < regs->sp || (next.sp == regs->sp && !is_leaf) || (next.sp & 7) != 0))
		return WALK_NO_PROGRESS;
	if (a64_restore(mem, rule, A64_LR_SHIFT, next.sp, &next.ip) < 0 ||
	    a64_restore(mem, rule, A64_FP_SHIFT, next.sp, &next.fp) < 0)
		return WALK_UNREADABLE;
	next.ip &= A64_ADDRESS_MASK;
	if (next.ip == 0) {
		*out_step = (struct native_step){ .is_last = 1 };
		return WALK_COMPLETE;
	}
	*regs = next;
	*out_step = (struct native_step){ .is_exact = is_signal_frame,
					  .is_signal = is_signal_frame };
	return WALK_COMPLETE;
}

struct eh_lookup;
struct native_image;

/* No rule is marked as eh_return here, so this is native_step(). */
static inline enum walk_status native_step_eh_return(struct mem *mem, struct eh_lookup *scratch,
						     const struct native_image *image, u64 rule,
						     struct native_regs *regs,
						     struct native_step *out_step)
{
	(void)scratch;
	(void)image;
	return native_step(mem, rule, regs, out_step);
}

/* bl, blr and the signed forms of blr. */
static inline int a64_is_call(u32 code)
{
	return (code & 0xfc000000) == 0x94000000 || (code & 0xfffffc1f) == 0xd63f0000 ||
	       (code & 0xfefff800) == 0xd63f0800;
}

/* No rule is a guess here. */
static inline int native_rule_is_guess(u64 rule)
{
	(void)rule;
	return 0;
}

/* Not known: the rule of a first instruction is also that of code that has saved nothing. */
static inline int native_rule_is_entry(u64 rule)
{
	(void)rule;
	return 0;
}

/* Whether a guessed step to `ip` is plausible: a call instruction ends there. */
static inline int native_follows_call(struct mem *mem, u64 ip)
{
	u32 code;

	return ip >= 4096 && (ip & 3) == 0 && mem_read(mem, &code, sizeof code, ip - 4) == 0 &&
	       a64_is_call(code);
}

/* Without a rule, larger frames are not accepted. */
#define A64_FRAME_POINTER_REACH (1 << 20)

/*
 * The step for code without rules that keeps a frame record.  Taken only if x29 is aligned and
 * not far above sp, the saved x29 is 0 or further out, and the return address follows a call
 * instruction.  The caller must check that the return address lies in a mapped file.
 */
static inline enum walk_status native_step_frame_pointer(struct mem *mem,
							 struct native_regs *regs)
{
	u64 frame[2]; /* saved x29, return address */
	u32 code;

	if ((regs->fp & 7) != 0 || regs->fp < regs->sp ||
	    regs->fp - regs->sp > A64_FRAME_POINTER_REACH)
		return WALK_NO_RULE;
	if (mem_read(mem, frame, sizeof frame, regs->fp) < 0)
		return WALK_NO_RULE;
	frame[1] &= A64_ADDRESS_MASK;
	if (frame[0] != 0 && (frame[0] <= regs->fp || (frame[0] & 7) != 0))
		return WALK_NO_RULE;
	if (frame[1] < 4096 || (frame[1] & 3) != 0 ||
	    mem_read(mem, &code, sizeof code, frame[1] - 4) < 0 || !a64_is_call(code))
		return WALK_NO_RULE;
	regs->ip = frame[1];
	regs->sp = regs->fp + 16;
	regs->fp = frame[0];
	regs->lr = 0;
	return WALK_COMPLETE;
}

/* Generated code keeps frame records on this processor: WALK_NO_RULE. */
static inline enum walk_status native_step_made_code(struct mem *mem, int is_exact,
						     int may_be_java, struct native_regs *regs)
{
	(void)mem;
	(void)is_exact;
	(void)may_be_java;
	(void)regs;
	return WALK_NO_RULE;
}
