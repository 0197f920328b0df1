/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * native_x86_64_scan - the rule of a small function by its remaining instructions.
 *
 * The compiler's start-up files (crti.o, crtbegin.o: _init, __do_global_dtors_aux, …) have
 * no rules, but run in every program and library.  From an address to the `ret`, what each
 * instruction does to the stack pointer is added up; that is where the return address is.
 * Jumps that may not be taken are passed: compilers leave the stack alike on both ways.
 *
 * Only instructions of the table are passed.  The first that is not in it ends the attempt,
 * so code that does anything unusual has no rule, rather than a wrong one.
 */
#pragma once
#include "native_x86_64.h"

enum x86_effect {
	X86_EFFECT_NONE,
	X86_EFFECT_PUSH,
	X86_EFFECT_POP,
	X86_EFFECT_ADD,   /* rsp += the instruction's last byte */
	X86_EFFECT_SUB,   /* rsp -= the instruction's last byte */
	X86_EFFECT_LEAVE, /* rsp = rbp, and rbp is popped */
	X86_EFFECT_JUMP,  /* to a place as far as the last byte says */
	X86_EFFECT_RETURN,
};

/* The first bytes of an instruction: code, where mask has ones. */
struct x86_pattern {
	u8 code[3], mask[3];
	u8 len;
	u8 effect;
};

#define X86_SCAN_BYTES        8 /* the longest instruction of the table */
#define X86_SCAN_INSTRUCTIONS 48

/* ModRM 00rrr101 is relative to rip; 11rrr0mm and 11rrr1mm are two registers. */
static const struct x86_pattern x86_patterns[] = {
	{ { 0xc3, 0, 0 }, { 0xff, 0, 0 }, 1, X86_EFFECT_RETURN },
	{ { 0xf3, 0xc3, 0 }, { 0xff, 0xff, 0 }, 2, X86_EFFECT_RETURN },
	{ { 0xeb, 0, 0 }, { 0xff, 0, 0 }, 2, X86_EFFECT_JUMP },
	/* Jumps to another function, as its last act. */
	{ { 0xe9, 0, 0 }, { 0xff, 0, 0 }, 5, X86_EFFECT_RETURN },
	{ { 0xff, 0x25, 0 }, { 0xff, 0xff, 0 }, 6, X86_EFFECT_RETURN },
	{ { 0xff, 0xe0, 0 }, { 0xff, 0xf8, 0 }, 2, X86_EFFECT_RETURN },
	{ { 0x50, 0, 0 }, { 0xf8, 0, 0 }, 1, X86_EFFECT_PUSH },
	{ { 0x41, 0x50, 0 }, { 0xff, 0xf8, 0 }, 2, X86_EFFECT_PUSH },
	{ { 0x58, 0, 0 }, { 0xf8, 0, 0 }, 1, X86_EFFECT_POP },
	{ { 0x41, 0x58, 0 }, { 0xff, 0xf8, 0 }, 2, X86_EFFECT_POP },
	{ { 0x48, 0x83, 0xc4 }, { 0xff, 0xff, 0xff }, 4, X86_EFFECT_ADD },
	{ { 0x48, 0x83, 0xec }, { 0xff, 0xff, 0xff }, 4, X86_EFFECT_SUB },
	{ { 0xc9, 0, 0 }, { 0xff, 0, 0 }, 1, X86_EFFECT_LEAVE },
	/* endbr64 */
	{ { 0xf3, 0x0f, 0x1e }, { 0xff, 0xff, 0xff }, 4, X86_EFFECT_NONE },
	/* call rel32; call *reg; call *(rip) */
	{ { 0xe8, 0, 0 }, { 0xff, 0, 0 }, 5, X86_EFFECT_NONE },
	{ { 0xff, 0xd0, 0 }, { 0xff, 0xf8, 0 }, 2, X86_EFFECT_NONE },
	{ { 0xff, 0x15, 0 }, { 0xff, 0xff, 0 }, 6, X86_EFFECT_NONE },
	/* je, jne rel8 */
	{ { 0x74, 0, 0 }, { 0xfe, 0, 0 }, 2, X86_EFFECT_NONE },
	/* lea, mov (rip),reg */
	{ { 0x48, 0x8d, 0x05 }, { 0xff, 0xff, 0xc7 }, 7, X86_EFFECT_NONE },
	{ { 0x48, 0x8b, 0x05 }, { 0xff, 0xff, 0xc7 }, 7, X86_EFFECT_NONE },
	/* cmp, sub, mov, add, test of two registers, into another than rsp */
	{ { 0x48, 0x39, 0xc0 }, { 0xff, 0xff, 0xc0 }, 3, X86_EFFECT_NONE },
	{ { 0x48, 0x29, 0xc0 }, { 0xff, 0xff, 0xc4 }, 3, X86_EFFECT_NONE },
	{ { 0x48, 0x89, 0xc0 }, { 0xff, 0xff, 0xc4 }, 3, X86_EFFECT_NONE },
	{ { 0x48, 0x89, 0xc5 }, { 0xff, 0xff, 0xc7 }, 3, X86_EFFECT_NONE },
	{ { 0x48, 0x89, 0xc6 }, { 0xff, 0xff, 0xc6 }, 3, X86_EFFECT_NONE },
	{ { 0x48, 0x01, 0xc0 }, { 0xff, 0xff, 0xc4 }, 3, X86_EFFECT_NONE },
	{ { 0x48, 0x01, 0xc6 }, { 0xff, 0xff, 0xc6 }, 3, X86_EFFECT_NONE },
	{ { 0x48, 0x29, 0xc6 }, { 0xff, 0xff, 0xc6 }, 3, X86_EFFECT_NONE },
	{ { 0x48, 0x85, 0xc0 }, { 0xff, 0xff, 0xc0 }, 3, X86_EFFECT_NONE },
	/* shifts of rsi, rax and the like */
	{ { 0x48, 0xc1, 0xc0 }, { 0xff, 0xff, 0xc4 }, 4, X86_EFFECT_NONE },
	{ { 0x48, 0xc1, 0xc6 }, { 0xff, 0xff, 0xc6 }, 4, X86_EFFECT_NONE },
	{ { 0x48, 0xd1, 0xc0 }, { 0xff, 0xff, 0xc4 }, 3, X86_EFFECT_NONE },
	{ { 0x48, 0xd1, 0xc6 }, { 0xff, 0xff, 0xc6 }, 3, X86_EFFECT_NONE },
	/* cmpb, cmpq, movb imm8,(rip) */
	{ { 0x80, 0x3d, 0 }, { 0xff, 0xff, 0 }, 7, X86_EFFECT_NONE },
	{ { 0x48, 0x83, 0x3d }, { 0xff, 0xff, 0xff }, 8, X86_EFFECT_NONE },
	{ { 0xc6, 0x05, 0 }, { 0xff, 0xff, 0 }, 7, X86_EFFECT_NONE },
	/* of programs that are not position independent: mov imm32,reg; cmp imm32,%rax;
	 * sub imm32,%rsi */
	{ { 0xb8, 0, 0 }, { 0xfc, 0, 0 }, 5, X86_EFFECT_NONE },
	{ { 0xbe, 0, 0 }, { 0xfe, 0, 0 }, 5, X86_EFFECT_NONE },
	{ { 0x48, 0x3d, 0 }, { 0xff, 0xff, 0 }, 6, X86_EFFECT_NONE },
	{ { 0x48, 0x81, 0xee }, { 0xff, 0xff, 0xff }, 7, X86_EFFECT_NONE },
	/* nop */
	{ { 0x90, 0, 0 }, { 0xff, 0, 0 }, 1, X86_EFFECT_NONE },
	{ { 0x0f, 0x1f, 0x80 }, { 0xff, 0xff, 0xff }, 7, X86_EFFECT_NONE },
	{ { 0x0f, 0x1f, 0x00 }, { 0xff, 0xff, 0xff }, 3, X86_EFFECT_NONE },
};

#define X86_PATTERNS ((u32)(sizeof x86_patterns / sizeof x86_patterns[0]))

struct x86_scan {
	s64 moved;    /* how far rsp has moved since the scan began */
	u32 pushes;   /* what was pushed on the way is popped first */
	u8 fp_is_set; /* row.column[CFA_COLUMN_FP] is known */
	u8 bx_is_set;
	struct cfa_row row;
};

static inline const struct x86_pattern *x86_pattern_of(const u8 *bytes)
{
	for (u32 i = 0; i < X86_PATTERNS; i++) {
		const struct x86_pattern *p = &x86_patterns[i];
		if (((bytes[0] ^ p->code[0]) & p->mask[0]) == 0 &&
		    ((bytes[1] ^ p->code[1]) & p->mask[1]) == 0 &&
		    ((bytes[2] ^ p->code[2]) & p->mask[2]) == 0)
			return p;
	}
	return 0;
}

/* A pop of what was pushed before the scan began is where the caller's register is. */
static inline void x86_scan_pop(struct x86_scan *s, u8 first_byte)
{
	struct cfa_place place = { .kind = CFA_PLACE_AT_REG, .reg = X86_RSP };

	place.offset = (s32)s->moved;
	if (s->pushes > 0) {
		s->pushes--;
	} else if (first_byte == 0x58 + 5 && !s->fp_is_set) {
		s->row.column[CFA_COLUMN_FP] = place;
		s->fp_is_set = 1;
	} else if (first_byte == 0x58 + 3 && !s->bx_is_set) {
		s->row.column[CFA_COLUMN_BX] = place;
		s->bx_is_set = 1;
	}
	s->moved += 8;
}

/* rsp = rbp: the frame is the usual one, whatever was on the stack below. */
static inline void x86_scan_leave(struct x86_scan *s)
{
	s->row.cfa = (struct cfa_base){ .kind = CFA_BASE_REG, .reg = X86_RBP, .offset = 16 };
	s->row.column[CFA_COLUMN_FP] =
		(struct cfa_place){ .kind = CFA_PLACE_AT_CFA, .offset = -16 };
}

/* The end was reached: the return address is at rsp. */
static inline u64 x86_scan_rule(struct x86_scan *s)
{
	if (s->row.cfa.kind == CFA_BASE_NONE)
		s->row.cfa = (struct cfa_base){
			.kind = CFA_BASE_REG,
			.reg = X86_RSP,
			.offset = (s32)s->moved + 8,
		};
	s->row.column[CFA_COLUMN_RA] =
		(struct cfa_place){ .kind = CFA_PLACE_AT_CFA, .offset = -8 };
	return s->moved < 0 || s->pushes != 0 ? 0 : native_rule_pack(&s->row, 0);
}

/* Takes one instruction; 0 if it is the last. */
static inline int x86_scan_step(struct x86_scan *s, const struct x86_pattern *p,
				const u8 *bytes)
{
	switch (p->effect) {
	case X86_EFFECT_PUSH:
		s->pushes++;
		s->moved -= 8;
		return 1;
	case X86_EFFECT_POP:
		x86_scan_pop(s, bytes[0]);
		return 1;
	case X86_EFFECT_ADD:
		s->moved += (s8)bytes[3];
		return 1;
	case X86_EFFECT_SUB:
		s->moved -= (s8)bytes[3];
		return 1;
	case X86_EFFECT_LEAVE:
		x86_scan_leave(s);
		return 0;
	case X86_EFFECT_RETURN:
		return 0;
	default:
		return 1;
	}
}

/* The rule for the instruction at `at`, which must be where one begins; 0 if unknown. */
static inline u64 x86_scan(struct mem *mem, u64 at)
{
	struct x86_scan s = { 0 };

	for (u32 i = 0; i < X86_SCAN_INSTRUCTIONS; i++) {
		u8 bytes[X86_SCAN_BYTES] = { 0 };
		if (mem_read_some(mem, bytes, sizeof bytes, at) == 0)
			return 0;
		const struct x86_pattern *p = x86_pattern_of(bytes);
		if (p == 0)
			return 0;
		if (!x86_scan_step(&s, p, bytes))
			return x86_scan_rule(&s);
		at += p->len;
		if (p->effect == X86_EFFECT_JUMP)
			at += (u64)(s64)(s8)bytes[1];
	}
	return 0;
}
