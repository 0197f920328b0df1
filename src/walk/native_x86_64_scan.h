/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * native_x86_64_scan - derives a rule for code without rules from the instructions up to its
 * return.
 *
 * Hand-written assembler (of GMP, OpenBLAS, x264, libjpeg), compilers' start-up files and
 * generated code have no unwind rules.  From an address to the `ret`, the effect of each
 * instruction on the general registers is followed: the final stack pointer points to the return
 * address, and the final rbp and rbx are the caller's.
 *
 * Conditional jumps are not taken, others are: the stack is the same on both branches.  If that
 * path reaches no end, all forward conditional jumps are taken, which skips unrolled loops; then
 * one of the first few, each in turn.  The result is a guess: x86_follows_call() of the address
 * it leads to shows whether it may be right.
 */
#pragma once
#include "native_x86_64.h"
#include "native_x86_64_insn.h"

/* Most instructions on one path, for code of an image, where each address is scanned once. */
#define X86_SCAN_INSTRUCTIONS 512
/* The same for generated code, scanned at each step. */
#define X86_SCAN_MADE 32
/* The same for Java's, whose frame pointer is known to be another frame's. */
#define X86_SCAN_JAVA 128
/* Conditional jumps of which one at a time is taken. */
#define X86_SCAN_JUMPS 6
/* Most backward jumps on one path: more would be a loop. */
#define X86_SCAN_BACKWARDS 2

/* A register's value, in terms of the registers at the start of the scan. */
enum x86_value_kind {
	X86_VALUE_UNKNOWN,
	X86_VALUE_SUM,   /* base + offset */
	X86_VALUE_READ,  /* *(base + offset) + add */
	X86_VALUE_READ2, /* *(*(base + offset) + add) */
};

struct x86_value {
	s32 offset;
	s16 add;
	u8 kind; /* enum x86_value_kind */
	u8 base;
};

struct x86_scan {
	u64 at;
	u32 take;  /* the number of the conditional jump to take, or X86_TAKE_… */
	u32 jumps; /* conditional jumps so far */
	u8 backwards;
	u8 has_called; /* the last instruction was a call */
	u8 has_checked; /* the last instruction compared the canary: the next jump leads to an abort */
	struct x86_value registers[X86_REGISTERS];
};

#define X86_TAKE_NONE     0
#define X86_TAKE_FORWARDS 0xffffffffU

enum x86_scan_result {
	X86_SCAN_ON,
	X86_SCAN_RETURN,
	X86_SCAN_STUCK,
};

static inline struct x86_value x86_value_plus(struct x86_value value, s64 number)
{
	const s64 offset = value.offset + number, add = value.add + number;

	if (value.kind == X86_VALUE_SUM && offset >= -(1 << 28) && offset < 1 << 28)
		value.offset = (s32)offset;
	else if (value.kind == X86_VALUE_READ && add >= -(1 << 14) && add < 1 << 14)
		value.add = (s16)add;
	else
		value.kind = X86_VALUE_UNKNOWN;
	return value;
}

/* The value in memory at an address. */
static inline struct x86_value x86_value_at(struct x86_value address)
{
	if (address.kind == X86_VALUE_SUM && (address.base != X86_SP || address.offset >= 0))
		address.kind = X86_VALUE_READ;
	else if (address.kind == X86_VALUE_READ)
		address.kind = X86_VALUE_READ2;
	else
		address.kind = X86_VALUE_UNKNOWN;
	return address;
}

static inline void x86_scan_write(struct x86_scan *s, u8 reg, struct x86_value value)
{
	if (reg < X86_REGISTERS)
		s->registers[reg] = value;
}

static inline void x86_scan_lose(struct x86_scan *s, u8 reg)
{
	x86_scan_write(s, reg, (struct x86_value){ 0 });
}

static inline void x86_scan_move_sp(struct x86_scan *s, s32 bytes)
{
	s->registers[X86_SP] = x86_value_plus(s->registers[X86_SP], bytes);
}

static inline void x86_scan_pop(struct x86_scan *s, u8 reg)
{
	const struct x86_value sp = s->registers[X86_SP];

	x86_scan_move_sp(s, 8);
	/* A value pushed since the start is assumed to be popped into the register it came from. */
	if (reg != X86_SP && sp.kind == X86_VALUE_SUM && sp.base == X86_SP && sp.offset < 0)
		x86_scan_write(s, reg,
			       (struct x86_value){ .kind = X86_VALUE_SUM, .base = reg });
	else
		x86_scan_write(s, reg, x86_value_at(sp));
}

/* Calls preserve rbx, rbp, rsp and r12 to r15. */
static inline void x86_scan_call(struct x86_scan *s)
{
	for (u8 i = 0; i < 12; i++) {
		if (i != X86_BX && i != X86_SP && i != X86_BP)
			x86_scan_lose(s, i);
	}
}

/* The address of a memory operand, if it is a register plus a number. */
static inline struct x86_value x86_scan_address(const struct x86_scan *s,
						const struct x86_insn *insn)
{
	if (insn->rm >= X86_REGISTERS)
		return (struct x86_value){ 0 };
	return x86_value_plus(s->registers[insn->rm], insn->displacement);
}

/* Follows 64-bit mov, lea, add and sub; false: another instruction. */
static inline int x86_scan_computes(struct x86_scan *s, const struct x86_insn *insn)
{
	const u8 kind = insn->reg & 7;

	if (!insn->is_wide || insn->map != X86_MAP_ONE)
		return 0;
	if (insn->opcode == 0x89 && !insn->is_memory)
		x86_scan_write(s, insn->rm, s->registers[insn->reg & 15]);
	else if (insn->opcode == 0x8b && !insn->is_memory)
		x86_scan_write(s, insn->reg, s->registers[insn->rm & 15]);
	else if (insn->opcode == 0x8b)
		x86_scan_write(s, insn->reg, x86_value_at(x86_scan_address(s, insn)));
	else if (insn->opcode == 0x8d && insn->is_memory)
		x86_scan_write(s, insn->reg, x86_scan_address(s, insn));
	else if ((insn->opcode == 0x81 || insn->opcode == 0x83) && !insn->is_memory &&
		 (kind == 0 || kind == 5))
		x86_scan_write(
			s, insn->rm,
			x86_value_plus(s->registers[insn->rm & 15],
				       kind == 0 ? insn->immediate : -(s64)insn->immediate));
	else
		return 0;
	return 1;
}

/* Follows stack operations, and forgets registers that other instructions may write. */
static inline void x86_scan_effect(struct x86_scan *s, const struct x86_insn *insn)
{
	const u8 opcode = insn->opcode;
	const u8 low = (u8)((opcode & 7) | (insn->rex & 1) << 3);

	if (insn->map == X86_MAP_ONE) {
		if (opcode >> 3 == 0x50 >> 3 || opcode == 0x68 || opcode == 0x6a ||
		    opcode == 0x9c || (opcode == 0xff && (insn->reg & 7) == 6))
			x86_scan_move_sp(s, -8);
		else if (opcode >> 3 == 0x58 >> 3)
			x86_scan_pop(s, low);
		else if (opcode == 0x9d)
			x86_scan_move_sp(s, 8);
		else if (opcode == 0xe8 || (opcode == 0xff && (insn->reg & 7) == 2))
			x86_scan_call(s);
		if (opcode == 0x86 || opcode == 0x87)
			x86_scan_lose(s, insn->reg);
		if (opcode >> 3 == 0x90 >> 3 && low != 0)
			x86_scan_lose(s, low);
	}
	if (insn->is_vector && insn->map == X86_MAP_0F38 && opcode >= 0xf2)
		x86_scan_lose(s, insn->other);
	x86_scan_lose(s, x86_insn_writes(insn));
}

/* leave: rsp = rbp, then pops rbp.  True: this is the end of a usual frame. */
static inline int x86_scan_leave(struct x86_scan *s)
{
	s->registers[X86_SP] = s->registers[X86_BP];
	x86_scan_pop(s, X86_BP);
	return s->registers[X86_SP].kind == X86_VALUE_SUM &&
	       s->registers[X86_SP].base == X86_BP;
}

static inline enum x86_scan_result x86_scan_jump(struct x86_scan *s, s32 distance)
{
	if (distance < 0 && s->backwards++ == X86_SCAN_BACKWARDS)
		return X86_SCAN_STUCK;
	s->at += (u64)(s64)distance;
	return X86_SCAN_ON;
}

/* Follows jumps and returns. */
static inline enum x86_scan_result x86_scan_flow(struct x86_scan *s,
						 const struct x86_insn *insn)
{
	const u8 opcode = insn->opcode;
	const u8 is_conditional =
		insn->map == X86_MAP_ONE
			? opcode >> 4 == 7 || (opcode & 0xfc) == 0xe0
			: insn->map == X86_MAP_0F && !insn->is_vector && opcode >> 4 == 8;

	if (is_conditional && s->has_checked)
		return X86_SCAN_ON;
	if (is_conditional)
		return ++s->jumps == s->take ||
				       (s->take == X86_TAKE_FORWARDS && insn->immediate > 0)
			       ? x86_scan_jump(s, insn->immediate)
			       : X86_SCAN_ON;
	if (insn->map != X86_MAP_ONE)
		return X86_SCAN_ON;
	if (opcode == 0xc2 || opcode == 0xc3)
		return X86_SCAN_RETURN;
	if (opcode == 0xc9)
		return x86_scan_leave(s) ? X86_SCAN_RETURN : X86_SCAN_ON;
	if (opcode == 0xe9 || opcode == 0xeb)
		return x86_scan_jump(s, insn->immediate);
	if (opcode != 0xff || (insn->reg & 7) < 3 || (insn->reg & 7) == 6)
		return X86_SCAN_ON;
	/*
	 * jmp *…(%rip) is a tail call of another library's function; other indirect jumps may be
	 * a switch.
	 */
	return insn->at >= 6 && insn->bytes[insn->at - 6] == 0xff &&
			       insn->bytes[insn->at - 5] == 0x25
		       ? X86_SCAN_RETURN
		       : X86_SCAN_STUCK;
}

/*
 * Whether the instruction after a call shows that the call does not return, and the code ends
 * there: padding, or another function's first instruction (endbr64).  Else it cannot be seen.
 */
static inline int x86_scan_is_behind(const struct x86_insn *insn)
{
	return (insn->map == X86_MAP_0F && !insn->is_vector &&
		(insn->opcode == 0x1e || insn->opcode == 0x1f)) ||
	       (insn->map == X86_MAP_ONE && insn->opcode == 0x90);
}

/* sub or xor %fs:0x28 from a register (-fstack-protector). */
static inline u8 x86_scan_is_check(const struct x86_insn *insn)
{
	return insn->bytes[0] == 0x64 && insn->at >= 4 && insn->bytes[insn->at - 4] == 0x28 &&
	       insn->bytes[insn->at - 3] == 0 && insn->map == X86_MAP_ONE &&
	       (insn->opcode == 0x2b || insn->opcode == 0x33);
}

static inline enum x86_scan_result x86_scan_instruction(struct x86_scan *s, struct mem *mem)
{
	struct x86_insn insn;
	const u32 len = x86_insn_read(mem, s->at, &insn);

	if (len == 0 || (s->has_called && x86_scan_is_behind(&insn)))
		return X86_SCAN_STUCK;
	s->at += len;
	s->has_called = insn.map == X86_MAP_ONE &&
			(insn.opcode == 0xe8 || (insn.opcode == 0xff && (insn.reg & 7) == 2));
	const enum x86_scan_result result = x86_scan_flow(s, &insn);

	s->has_checked = x86_scan_is_check(&insn);

	if (result == X86_SCAN_ON && insn.opcode != 0xc9 && !x86_scan_computes(s, &insn))
		x86_scan_effect(s, &insn);
	/* pop %rbp after mov %rbp,%rsp: the end of a usual frame, whatever follows. */
	if (result == X86_SCAN_ON && insn.map == X86_MAP_ONE && insn.opcode == 0x5d &&
	    s->registers[X86_SP].kind == X86_VALUE_SUM && s->registers[X86_SP].base == X86_BP &&
	    s->registers[X86_SP].offset == 8)
		return X86_SCAN_RETURN;
	return result;
}

static inline u8 x86_dwarf_number(u8 reg)
{
	static const u8 numbers[8] = { 0, 2, 1, X86_RBX, X86_RSP, X86_RBP, 4, 5 };

	return reg < 8 ? numbers[reg] : reg;
}

/* Where the caller's value of a register is saved; cfa: the final stack pointer. */
static inline struct cfa_place x86_scan_place(const struct x86_scan *s, u8 reg)
{
	const struct x86_value value = s->registers[reg], cfa = s->registers[X86_SP];
	struct cfa_place place = { .kind = CFA_PLACE_UNKNOWN };

	if (value.kind == X86_VALUE_SUM && value.base == reg && value.offset == 0) {
		place.kind = CFA_PLACE_SAME;
	} else if (value.kind == X86_VALUE_READ && cfa.kind == X86_VALUE_SUM &&
		   value.base == cfa.base && value.add == 0) {
		place.kind = CFA_PLACE_AT_CFA;
		place.offset = value.offset - cfa.offset - 8;
	} else if (value.kind == X86_VALUE_READ && value.add == 0) {
		place.kind = CFA_PLACE_AT_REG;
		place.reg = x86_dwarf_number(value.base);
		place.offset = value.offset;
	} else if (value.kind == X86_VALUE_READ2 && cfa.kind == X86_VALUE_READ &&
		   value.base == cfa.base && value.offset == cfa.offset) {
		place.kind = CFA_PLACE_AT_CFA;
		place.offset = value.add - cfa.add - 8;
	}
	return place;
}

/* The rule at the end of the path, where the return address is at rsp. */
static inline u64 x86_scan_rule(const struct x86_scan *s)
{
	const struct x86_value sp = s->registers[X86_SP];
	struct cfa_row row = { .cfa = { .reg = x86_dwarf_number(sp.base),
					.offset = sp.offset } };

	if (sp.kind == X86_VALUE_SUM && (sp.base != X86_SP || sp.offset >= 0)) {
		row.cfa.kind = CFA_BASE_REG;
		row.cfa.offset = sp.offset + 8;
	} else if (sp.kind == X86_VALUE_READ && sp.add >= 0) {
		row.cfa.kind = CFA_BASE_DEREF;
		row.cfa.add = (u16)(sp.add + 8);
	} else {
		return 0;
	}
	row.column[CFA_COLUMN_FP] = x86_scan_place(s, X86_BP);
	row.column[CFA_COLUMN_BX] = x86_scan_place(s, X86_BX);
	row.column[CFA_COLUMN_RA] =
		(struct cfa_place){ .kind = CFA_PLACE_AT_CFA, .offset = -8 };
	const u64 rule = native_rule_pack(&row, 0);

	return rule != 0 ? rule | x86_guess_mark(rule) : 0;
}

/* Follows one path from `at`; *out_jumps: how many conditional jumps it passed. */
static inline u64 x86_scan_way(struct mem *mem, u64 at, u32 take, u32 instructions,
			       u32 *out_jumps)
{
	struct x86_scan s = { .at = at, .take = take };
	enum x86_scan_result result = X86_SCAN_ON;

	for (u8 i = 0; i < X86_REGISTERS; i++)
		s.registers[i] = (struct x86_value){ .kind = X86_VALUE_SUM, .base = i };
	for (u32 i = 0; i < X86_SCAN_INSTRUCTIONS && i < instructions; i++) {
		result = x86_scan_instruction(&s, mem);
		if (result != X86_SCAN_ON)
			break;
	}
	*out_jumps = s.jumps;
	return result == X86_SCAN_RETURN ? x86_scan_rule(&s) : 0;
}

/*
 * The rule for the instruction at `at`, which must be the start of an instruction; 0: unknown.
 * instructions: the limit for each path.
 */
static inline u64 x86_scan(struct mem *mem, u64 at, u32 instructions)
{
	u32 jumps, ignored;
	u64 rule = x86_scan_way(mem, at, X86_TAKE_NONE, instructions, &jumps);

	if (rule == 0 && jumps > 0)
		rule = x86_scan_way(mem, at, X86_TAKE_FORWARDS, instructions, &ignored);
	for (u32 take = 1; rule == 0 && take <= jumps && take <= X86_SCAN_JUMPS; take++)
		rule = x86_scan_way(mem, at, take, instructions, &ignored);
	return rule;
}
