/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * native_x86_64_insn - the length of one instruction, and which general register it writes.
 *
 * Covers what compilers and assembler programmers use of 64-bit mode: all of SSE, AVX and AVX-512
 * by their prefixes, the usual integer instructions one by one.  Others (system calls, far jumps,
 * traps, 32-bit addresses) have length 0, so that unusual code is not understood, rather than
 * misunderstood.  (Intel SDM, volume 2, appendix A.)
 */
#pragma once
#include "mem.h"

/* Registers as instructions number them. */
enum {
	X86_AX,
	X86_CX,
	X86_DX,
	X86_BX,
	X86_SP,
	X86_BP,
	X86_SI,
	X86_DI,
	X86_REGISTERS = 16,
	X86_NO_REGISTER = 0xff,
};

#define X86_INSN_MAX 15

enum x86_map {
	X86_MAP_ONE,
	X86_MAP_0F,
	X86_MAP_0F38,
	X86_MAP_0F3A,
};

struct x86_insn {
	u8 bytes[X86_INSN_MAX + 9]; /* and padding for reads beyond a run of prefixes */
	u8 at;  /* index of the next byte; in the end the instruction's length */
	u8 map; /* enum x86_map */
	u8 opcode;
	u8 is_wide;   /* REX.W */
	u8 is_vector; /* VEX or EVEX */
	u8 is_short;  /* 66: an operand of 16 bits */
	u8 rex;       /* R, X, B as in REX */
	u8 other;     /* VEX: the third operand */
	u8 has_modrm;
	u8 is_memory; /* the operand by r/m is not a register */
	u8 reg, rm; /* rm: of memory the base register; X86_NO_REGISTER: none, or an index, too */
	s32 displacement;
	s32 immediate;
};

static inline s32 x86_insn_s32(const struct x86_insn *insn, u32 at)
{
	if (at + 4 > X86_INSN_MAX)
		return 0;
	return (s32)((u32)insn->bytes[at] | (u32)insn->bytes[at + 1] << 8 |
		     (u32)insn->bytes[at + 2] << 16 | (u32)insn->bytes[at + 3] << 24);
}

/* Reads a VEX (c4, c5) or EVEX (62) prefix, which selects the opcode map. */
static inline int x86_insn_vector_prefix(struct x86_insn *insn)
{
	const u8 first = insn->bytes[insn->at];
	const u8 second = insn->bytes[insn->at + 1];
	const u8 third = insn->bytes[insn->at + 2];

	insn->is_vector = 1;
	insn->rex = (u8)(second >> 5 ^ 4) & 4;
	insn->map = X86_MAP_0F;
	insn->at = (u8)(insn->at + (first == 0xc5 ? 2 : first == 0xc4 ? 3 : 4));
	insn->other = (u8)((first == 0xc5 ? second : third) >> 3 ^ 15) & 15;
	if (first == 0xc5)
		return 0;
	insn->rex = (u8)(second >> 5 ^ 7) & 7;
	insn->map = second & (first == 0xc4 ? 31 : 7);
	insn->is_wide = third >> 7;
	return insn->map >= X86_MAP_0F && insn->map <= X86_MAP_0F3A ? 0 : -1;
}

/* Reads all that precedes the opcode. */
static inline int x86_insn_prefixes(struct x86_insn *insn)
{
	for (u32 i = 0; i < 6; i++) {
		const u8 byte = insn->bytes[insn->at];

		if (byte == 0x66)
			insn->is_short = 1;
		else if (byte != 0xf2 && byte != 0xf3 && byte != 0x2e && byte != 0x3e &&
			 byte != 0x64 && byte != 0x65 && byte != 0xf0)
			break;
		insn->at++;
	}
	if (insn->bytes[insn->at] >> 4 == 4) {
		insn->rex = insn->bytes[insn->at] & 7;
		insn->is_wide = insn->bytes[insn->at] >> 3 & 1;
		insn->at++;
	}
	const u8 byte = insn->bytes[insn->at];

	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
		return x86_insn_vector_prefix(insn);
	if (byte != 0x0f)
		return 0;
	insn->map = X86_MAP_0F;
	insn->at++;
	if (insn->bytes[insn->at] == 0x38 || insn->bytes[insn->at] == 0x3a)
		insn->map = insn->bytes[insn->at++] == 0x38 ? X86_MAP_0F38 : X86_MAP_0F3A;
	return 0;
}

static inline void x86_insn_modrm(struct x86_insn *insn)
{
	const u8 modrm = insn->bytes[insn->at++];
	const u8 mod = modrm >> 6;
	u8 base = modrm & 7;

	insn->has_modrm = 1;
	insn->reg = (u8)((modrm >> 3 & 7) | (insn->rex & 4) << 1);
	insn->rm = (u8)(base | (insn->rex & 1) << 3);
	insn->is_memory = mod != 3;
	if (mod == 3)
		return;
	if (base == X86_SP) {
		const u8 sib = insn->bytes[insn->at++];

		base = sib & 7;
		insn->rm = (u8)(base | (insn->rex & 1) << 3);
		if ((sib >> 3 & 7) != X86_SP || (insn->rex & 2) != 0)
			insn->rm = X86_NO_REGISTER; /* there is an index */
	}
	if (mod == 0 && base == X86_BP) {
		insn->rm = X86_NO_REGISTER; /* relative to rip, or absolute */
		insn->at = (u8)(insn->at + 4);
	} else if (mod == 1) {
		insn->displacement = (signed char)insn->bytes[insn->at++];
	} else if (mod == 2) {
		insn->displacement = x86_insn_s32(insn, insn->at);
		insn->at = (u8)(insn->at + 4);
	}
}

/*
 * One-byte opcodes, 16 to a word: a bit for each that has a ModRM byte; below, for each unknown
 * one.
 */
static inline int x86_one_has_modrm(u8 opcode)
{
	static const u16 has[16] = { 0x0f0f, 0x0f0f, 0x0f0f, 0x0f0f, 0, 0,
				     0x0a08, 0,      0xaffb, 0,      0, 0,
				     0x00c3, 0xff0f, 0,      0xc0c0 };

	return has[opcode >> 4] >> (opcode & 15) & 1;
}

static inline int x86_one_is_unknown(u8 opcode)
{
	static const u16 unknown[16] = { 0xc0c0, 0xc0c0, 0xc0c0, 0xc0c0, 0xffff, 0,
					 0xf0f7, 0,      0xd004, 0x0c00, 0x000f, 0,
					 0xfd30, 0x0070, 0xf4f0, 0x0c1f };

	return unknown[opcode >> 4] >> (opcode & 15) & 1;
}

static inline u32 x86_one_immediate(const struct x86_insn *insn)
{
	const u8 opcode = insn->opcode;
	const u32 full = insn->is_short ? 2 : 4;

	if (opcode < 0x40)
		return (opcode & 7) == 4 ? 1 : (opcode & 7) == 5 ? full : 0;
	if ((opcode >= 0xb8 && opcode <= 0xbf))
		return insn->is_wide ? 8 : full;
	switch (opcode) {
	case 0x68:
	case 0x69:
	case 0x81:
	case 0xa9:
	case 0xc7:
		return full;
	case 0xe8:
	case 0xe9:
		return 4;
	case 0xc2:
		return 2;
	case 0xf6:
		return (insn->reg & 7) < 2 ? 1 : 0;
	case 0xf7:
		return (insn->reg & 7) < 2 ? full : 0;
	default:
		return (opcode >> 4) == 7 || (opcode >= 0xb0 && opcode <= 0xb7) ||
				       (opcode >= 0xe0 && opcode <= 0xe3) || opcode == 0x6a ||
				       opcode == 0x6b || opcode == 0x80 || opcode == 0x83 ||
				       opcode == 0xa8 || opcode == 0xc0 || opcode == 0xc1 ||
				       opcode == 0xc6 || opcode == 0xeb
			       ? 1
			       : 0;
	}
}

static inline int x86_two_has_modrm(u8 opcode)
{
	return opcode != 0x31 && opcode != 0x77 && opcode >> 4 != 8 && (opcode & 0xf8) != 0xc8;
}

/* Opcodes behind 0f that are system calls, or for kernels only. */
static inline int x86_two_is_unknown(u8 opcode)
{
	return (opcode < 0x10 && opcode != 0x0d) || (opcode >= 0x20 && opcode < 0x28) ||
	       (opcode >> 4 == 3 && opcode != 0x31) || opcode == 0x78 || opcode == 0x79 ||
	       (opcode >= 0xa0 && opcode <= 0xa2) || (opcode >= 0xa6 && opcode <= 0xaa) ||
	       opcode == 0xb2 || opcode == 0xb4 || opcode == 0xb5;
}

static inline u32 x86_two_immediate(u8 opcode)
{
	if (opcode >> 4 == 8)
		return 4;
	return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xa4 || opcode == 0xac ||
			       opcode == 0xba || opcode == 0xc2 ||
			       (opcode >= 0xc4 && opcode <= 0xc6)
		       ? 1
		       : 0;
}

/* Reads as many bytes as are readable. */
static inline u32 x86_insn_fetch(struct mem *mem, u64 at, u8 *bytes)
{
	u32 count = 0;

	if (mem_read(mem, bytes, X86_INSN_MAX, at) >= 0)
		return X86_INSN_MAX;
	while (count < X86_INSN_MAX && mem_read(mem, bytes + count, 1, at + count) >= 0)
		count++;
	return count;
}

/* Reads the instruction at `at`: its length, or 0 if it is unknown. */
static inline u32 x86_insn_read(struct mem *mem, u64 at, struct x86_insn *insn)
{
	u32 immediate = 0;

	*insn = (struct x86_insn){ 0 };
	const u32 count = x86_insn_fetch(mem, at, insn->bytes);

	if (count == 0 || x86_insn_prefixes(insn) < 0 || insn->at >= X86_INSN_MAX)
		return 0;
	insn->opcode = insn->bytes[insn->at++];
	if (insn->map == X86_MAP_ONE) {
		if (x86_one_is_unknown(insn->opcode))
			return 0;
		if (x86_one_has_modrm(insn->opcode))
			x86_insn_modrm(insn);
		immediate = x86_one_immediate(insn);
	} else if (insn->map == X86_MAP_0F) {
		if (!insn->is_vector && x86_two_is_unknown(insn->opcode))
			return 0;
		if (insn->is_vector ? insn->opcode != 0x77 : x86_two_has_modrm(insn->opcode))
			x86_insn_modrm(insn);
		immediate = insn->is_vector && insn->opcode >> 4 == 8
				    ? 0
				    : x86_two_immediate(insn->opcode);
	} else {
		x86_insn_modrm(insn);
		immediate = insn->map == X86_MAP_0F3A;
	}
	if (immediate == 1 && insn->at < X86_INSN_MAX)
		insn->immediate = (signed char)insn->bytes[insn->at];
	else if (immediate == 4)
		insn->immediate = x86_insn_s32(insn, insn->at);
	insn->at = (u8)(insn->at + immediate);
	return insn->at <= count ? insn->at : 0;
}

/* The general register that r/m denotes, or none. */
static inline u8 x86_insn_rm_register(const struct x86_insn *insn)
{
	return insn->is_memory ? X86_NO_REGISTER : insn->rm;
}

static inline u8 x86_one_writes(const struct x86_insn *insn)
{
	const u8 opcode = insn->opcode;

	if (opcode < 0x40) {
		if (opcode >> 3 == 7)
			return X86_NO_REGISTER; /* cmp */
		return (opcode & 7) < 2   ? x86_insn_rm_register(insn)
		       : (opcode & 7) < 4 ? insn->reg
					  : X86_AX;
	}
	if (opcode >= 0xb0 && opcode <= 0xbf)
		return (u8)((opcode & 7) | (insn->rex & 1) << 3);
	if (opcode >= 0x80 && opcode <= 0x83)
		return (insn->reg & 7) == 7 ? X86_NO_REGISTER : x86_insn_rm_register(insn);
	switch (opcode) {
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x8a:
	case 0x8b:
	case 0x8d:
		return insn->reg;
	case 0x84:
	case 0x85:
		return X86_NO_REGISTER;
	case 0xf6:
	case 0xf7:
		return (insn->reg & 7) < 2   ? X86_NO_REGISTER
		       : (insn->reg & 7) < 4 ? x86_insn_rm_register(insn)
					     : X86_AX;
	case 0xfe:
	case 0xff:
		return (insn->reg & 7) < 2 ? x86_insn_rm_register(insn) : X86_NO_REGISTER;
	default:
		return insn->has_modrm && opcode >> 3 != 0xd8 >> 3 ? x86_insn_rm_register(insn)
								   : X86_NO_REGISTER;
	}
}

/* For instructions that move from vector to general registers, and BMI; others write vectors. */
static inline u8 x86_vector_writes(const struct x86_insn *insn)
{
	const u8 opcode = insn->opcode;

	if (insn->map == X86_MAP_0F38)
		return opcode >= 0xf0 ? insn->reg : X86_NO_REGISTER;
	if (insn->map == X86_MAP_0F3A)
		return opcode >= 0x14 && opcode <= 0x17 ? x86_insn_rm_register(insn)
		       : opcode >= 0xf0                 ? insn->reg
							: X86_NO_REGISTER;
	if (opcode == 0x7e)
		return x86_insn_rm_register(insn);
	return opcode == 0x2c || opcode == 0x2d || opcode == 0x50 || opcode == 0xc5 ||
			       opcode == 0xd7 || opcode == 0x93
		       ? insn->reg
		       : X86_NO_REGISTER;
}

/*
 * The general register that the instruction may write, apart from effects of pushes, pops, calls
 * and string instructions; X86_NO_REGISTER if none.
 */
static inline u8 x86_insn_writes(const struct x86_insn *insn)
{
	const u8 opcode = insn->opcode;

	if (insn->map == X86_MAP_ONE)
		return x86_one_writes(insn);
	if (insn->is_vector || insn->map != X86_MAP_0F)
		return x86_vector_writes(insn);
	if (opcode >> 4 == 4 || opcode == 0xaf || opcode == 0xb6 || opcode == 0xb7 ||
	    (opcode >= 0xb8 && opcode != 0xba && opcode <= 0xbf) || opcode == 0x02 ||
	    opcode == 0x03)
		return insn->reg;
	if (opcode >> 4 == 9 || (opcode >= 0xa4 && opcode <= 0xb3) || opcode == 0xba ||
	    opcode == 0xc0 || opcode == 0xc1 || opcode == 0xc7)
		return x86_insn_rm_register(insn);
	if ((opcode & 0xf8) == 0xc8)
		return (u8)((opcode & 7) | (insn->rex & 1) << 3);
	return x86_vector_writes(insn);
}
