/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * native_x86_64_hotspot - recognises frames of the interpreter of HotSpot, the Java virtual
 * machine.
 *
 * HotSpot generates its interpreter at run time, bytecode by bytecode; its frames have a frame
 * pointer (src/hotspot/cpu/x86/frame_x86.hpp, JDK 8 to 24):
 *
 *	rbp + 8   the return address
 *	rbp       the caller's rbp
 *	rbp - 8   the caller's stack pointer: rbp + 16 or more, since the caller's arguments become
 *	          the callee's variables, and the other variables are inserted in between
 *	rbp - 16  its own stack pointer while it calls
 *	rbp - 72  where its operands begin; in JDK 8 rbp - 64
 *
 * The interpreter enters a Java function without a call instruction: it pushes the address of
 * code that reloads the stack pointer from rbp - 16.  Compiled code has no frame pointer (without
 * -XX:+PreserveFramePointer), and may leave rbp alone: then rbp is the frame not of the caller
 * but of an interpreted function further out, or of the stub by which C++ enters Java
 * (call_stub):
 *
 *	rbp - 32  the type of the result
 *	rbp - 40  and rbp - 48  pointers into the frame of the stub's caller
 */
#pragma once
#include "native_regs.h"
#include "native_x86_64_insn.h"

/* Most instructions of one bytecode; longer code is not the interpreter. */
#define X86_HOTSPOT_INSTRUCTIONS 256
/* Most bytes of a Java function's variables that are plausible. */
#define X86_HOTSPOT_VARIABLES (1 << 16)
/* enum BasicType */
#define X86_HOTSPOT_TYPES 32

/* Whether the interpreter continues at `at` when its callee returns. */
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

/* Whether the code at `at` ends as a bytecode does, and has not changed rbp. */
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
		/*
		 * jmp *(%r10,%rbx,8): to the next bytecode, by its opcode; or into a Java
		 * function.
		 */
		else if (insn.opcode == 0xff && (insn.reg & 7) == 4)
			return (len == 4 && insn.bytes[0] == 0x41 && insn.bytes[2] == 0x24 &&
				insn.bytes[3] == 0xda) ||
			       (has_kept && insn.is_memory && insn.rm == X86_BX);
		/* mov …,-16(%rbp): it saves its stack pointer. */
		has_kept = insn.opcode == 0x89 && insn.is_memory && insn.rm == X86_BP &&
			   insn.displacement == -16;
	}
	return 0;
}

/*
 * Whether a word may point to where operands begin, or be their distance from rbp in words (JDK
 * 21).
 */
static inline int x86_is_hotspot_operands(u64 fp, u64 word)
{
	return (word < fp && fp - word >= 64 && fp - word <= X86_HOTSPOT_VARIABLES) ||
	       -word - 8 <= X86_HOTSPOT_VARIABLES / 8;
}

/* Whether a word points a little way further out than the frame. */
static inline int x86_is_hotspot_outer(u64 fp, u64 word)
{
	return (word & 7) == 0 && word >= fp + 16 && word - fp <= X86_HOTSPOT_VARIABLES;
}

enum x86_hotspot_frame {
	X86_HOTSPOT_NONE,
	X86_HOTSPOT_INTERPRETED, /* an interpreted function's */
	X86_HOTSPOT_ENTRY,       /* the stub's */
};

/* The kind of Java frame at regs->fp; *out_outer: its caller. */
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

/* Whether the instruction at `at` accesses the frame at rbp. */
static inline int x86_reads_frame(struct mem *mem, u64 at)
{
	struct x86_insn insn;

	return x86_insn_read(mem, at, &insn) != 0 && insn.is_memory && insn.rm == X86_BP;
}
