/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * native_x86_64_hotspot - frames of the interpreter in HotSpot, the Java virtual machine.
 *
 * It is made at run time, bytecode by bytecode, and keeps a frame pointer
 * (src/hotspot/cpu/x86/frame_x86.hpp, JDK 8 to 24):
 *
 *	rbp + 8   the return address
 *	rbp       the caller's rbp
 *	rbp - 8   the caller's stack pointer: rbp + 16 or more, since a caller's arguments become
 *	          the callee's variables and those that are no arguments come in between
 *	rbp - 16  its own stack pointer while it calls
 *	rbp - 72  where its operands begin: in JDK 8 rbp - 64
 *
 * No call instruction leads from the interpreter to a Java function: it pushes the address of a
 * piece of code that takes the stack pointer from there again.  Compiled code has no frame
 * pointer of its own (without -XX:+PreserveFramePointer), and may leave rbp as it is: what is
 * there then is the frame of an interpreted function further out, not the caller's, or of the
 * stub that C++ enters Java by (call_stub):
 *
 *	rbp - 32  the type of the result
 *	rbp - 40  and rbp - 48  objects in the frame of what called
 */
#pragma once
#include "native_regs.h"
#include "native_x86_64_insn.h"

/* Instructions of one bytecode, at most; what comes to no end is no interpreter. */
#define X86_HOTSPOT_INSTRUCTIONS 256
/* Variables of a Java function, in bytes, that are believed. */
#define X86_HOTSPOT_VARIABLES (1 << 16)
/* enum BasicType */
#define X86_HOTSPOT_TYPES 32

/* Whether the interpreter goes on here when what it called returns. */
static inline int x86_is_hotspot_return(struct mem *mem, u64 at)
{
	/* mov -16(%rbp),%rsp; from JDK 21 on mov -16(%rbp),%rcx; lea (%rbp,%rcx,8),%rsp */
	static const u8 older[4] = { 0x48, 0x8b, 0x65, 0xf0 };
	static const u8 newer[8] = { 0x48, 0x8b, 0x4d, 0xf0, 0x48, 0x8d, 0x64, 0xcd };
	u8 bytes[8];
	u32 old = 0, new = 0;

	if (mem_read(mem, bytes, sizeof bytes, at) < 0)
		return 0;
	for (u32 i = 0; i < sizeof bytes; i++) {
		old += i < sizeof older && bytes[i] == older[i];
		new += bytes[i] == newer[i];
	}
	return old == sizeof older || new == sizeof newer;
}

/* Whether the code at `at` ends as a bytecode's does, and has its frame. */
static inline int x86_is_hotspot_bytecode(struct mem *mem, u64 at)
{
	struct x86_insn insn;
	u8 is_left = 0, has_kept = 0;

	for (u32 i = 0; i < X86_HOTSPOT_INSTRUCTIONS; i++) {
		const u32 len = x86_insn_read(mem, at, &insn);

		if (len == 0)
			return 0;
		at += len;
		if (insn.map != X86_MAP_ONE)
			continue;
		/* leave; pop %rsi: a return from Java, not to a call instruction. */
		if (is_left)
			return insn.opcode >> 3 == 0x58 >> 3;
		is_left = insn.opcode == 0xc9;
		if (insn.opcode == 0xe9 || insn.opcode == 0xeb)
			at += (u64)(s64)insn.immediate;
		else if (insn.opcode == 0xc3 || insn.opcode == 0xc2)
			return 0;
		else if (!insn.is_memory && ((insn.opcode == 0x89 && insn.rm == X86_BP) ||
					     (insn.opcode == 0x8b && insn.reg == X86_BP)))
			return 0;
		/* jmp *(%r10,%rbx,8): to the next bytecode, by its number.  Or into a function. */
		else if (insn.opcode == 0xff && (insn.reg & 7) == 4)
			return (len == 4 && insn.bytes[0] == 0x41 && insn.bytes[2] == 0x24 &&
				insn.bytes[3] == 0xda) ||
			       (has_kept && insn.is_memory && insn.rm == X86_BX);
		/* mov …,-16(%rbp): it keeps its stack pointer. */
		has_kept = insn.opcode == 0x89 && insn.is_memory && insn.rm == X86_BP &&
			   insn.displacement == -16;
	}
	return 0;
}

/* Where its operands begin, or their distance in words from rbp (from JDK 21 on). */
static inline int x86_is_hotspot_operands(u64 fp, u64 word)
{
	return (word < fp && fp - word >= 64 && fp - word <= X86_HOTSPOT_VARIABLES) ||
	       -word - 8 <= X86_HOTSPOT_VARIABLES / 8;
}

/* Whether a word points to what lies outside of the frame, but not far. */
static inline int x86_is_hotspot_outer(u64 fp, u64 word)
{
	return (word & 7) == 0 && word >= fp + 16 && word - fp <= X86_HOTSPOT_VARIABLES;
}

enum x86_hotspot_frame {
	X86_HOTSPOT_NONE,
	X86_HOTSPOT_INTERPRETED, /* an interpreted function's */
	X86_HOTSPOT_ENTRY,       /* the stub's */
};

/* Which frame of Java's there is at regs->fp; *out_outer: its caller. */
static inline enum x86_hotspot_frame x86_hotspot_frame(struct mem *mem,
						       const struct native_regs *regs,
						       struct native_regs *out_outer)
{
	u64 frame[11]; /* from rbp - 72 on */

	if ((regs->fp & 7) != 0 || regs->fp < regs->sp ||
	    mem_read(mem, frame, sizeof frame, regs->fp - 72) < 0)
		return X86_HOTSPOT_NONE;
	*out_outer = (struct native_regs){ .ip = frame[10], .sp = frame[8], .fp = frame[9] };
	if (x86_is_hotspot_outer(regs->fp, frame[8]) &&
	    (x86_is_hotspot_operands(regs->fp, frame[0]) ||
	     x86_is_hotspot_operands(regs->fp, frame[1])))
		return X86_HOTSPOT_INTERPRETED;
	if (x86_is_hotspot_outer(regs->fp, frame[3]) &&
	    x86_is_hotspot_outer(regs->fp, frame[4]) && (u32)frame[5] < X86_HOTSPOT_TYPES)
		return X86_HOTSPOT_ENTRY;
	return X86_HOTSPOT_NONE;
}

/* Whether the instruction at `at` takes something from the frame at rbp. */
static inline int x86_reads_frame(struct mem *mem, u64 at)
{
	struct x86_insn insn;

	return x86_insn_read(mem, at, &insn) != 0 && insn.is_memory && insn.rm == X86_BP;
}
