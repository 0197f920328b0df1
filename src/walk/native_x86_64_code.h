/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * native_x86_64_code - derives unwind rules from instructions, for code without unwind rules.
 *
 * Linkers' start-up files, ld.so's entry and other C libraries' signal trampolines are assembler
 * code without rules.  They are recognised by their instructions.
 */
#pragma once
#include "native_x86_64_call.h"
#include "native_x86_64_scan.h"

/* mov $15,%rax; syscall: rt_sigreturn. */
static inline int x86_is_sigreturn(struct mem *mem, u64 at)
{
	static const u8 code[9] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	u8 bytes[9];

	return mem_read(mem, bytes, sizeof bytes, at) == 0 &&
	       x86_are_same(bytes, code, sizeof code);
}

static inline u64 x86_sigreturn_rule(void)
{
	u8 is_bad = 0;

	return X86_FORM_DEREF_SP | X86_SIGNAL_FRAME |
	       x86_saved(X86_SAVED_AT_SP, X86_UCONTEXT_RBP, &is_bad) << X86_FP_SHIFT |
	       x86_saved(X86_SAVED_AT_SP, X86_UCONTEXT_RBX, &is_bad) << X86_BX_SHIFT |
	       x86_saved(X86_SAVED_AT_SP, X86_UCONTEXT_RIP, &is_bad) << X86_RA_SHIFT |
	       native_slots(X86_UCONTEXT_RSP, X86_DEREF_SHIFT, X86_DEREF_BITS, &is_bad);
}

/*
 * xor %ebp,%ebp; call: by the ABI, clearing rbp just before the call marks the outermost frame.
 * ld.so's _dl_start_user, which runs the constructors, is such a frame.
 */
static inline int x86_is_outermost_call(struct mem *mem, u64 return_address)
{
	u8 bytes[3];

	if (mem_read(mem, bytes, sizeof bytes, return_address - 7) < 0)
		return 0;
	return bytes[0] == 0x31 && bytes[1] == 0xed && bytes[2] == 0xe8;
}

/* call; hlt, which no program may execute: a _start whose linker left out its rules (tcc's). */
static inline int x86_is_before_halt(struct mem *mem, u64 return_address)
{
	u8 next;

	return mem_read(mem, &next, sizeof next, return_address) == 0 && next == 0xf4 &&
	       x86_follows_call(mem, return_address);
}

/* mov %rsp,%rdi; call; mov %rax,%r12: _start of glibc's ld.so, as a program begins. */
static inline int x86_is_loaders_start(struct mem *mem, u64 return_address)
{
	u8 bytes[11];

	return mem_read(mem, bytes, sizeof bytes, return_address - 8) == 0 &&
	       bytes[0] == 0x48 && bytes[1] == 0x89 && bytes[2] == 0xe7 && bytes[3] == 0xe8 &&
	       bytes[8] == 0x49 && bytes[9] == 0x89 && bytes[10] == 0xc4;
}

/* The outermost frame, which has called nothing yet: its ip is its first instruction. */
static inline u64 native_stack_bottom_rule(void)
{
	return X86_FORM_LAST | X86_SIGNAL_FRAME;
}

/* The length of a nop of any length (66… 2e, then 0f 1f /0 or 90); 0: no nop. */
static inline u32 x86_nop_length(const u8 *bytes, u32 len)
{
	u32 at = 0;

	while (at < 8 && at + 2 < len && (bytes[at] == 0x66 || bytes[at] == 0x2e))
		at++;
	if (bytes[at] == 0x90)
		return at + 1;
	if (at + 2 >= len || bytes[at] != 0x0f || bytes[at + 1] != 0x1f)
		return 0;
	switch (bytes[at + 2]) {
	case 0x00:
		return at + 3;
	case 0x40:
		return at + 4;
	case 0x44:
		return at + 5;
	case 0x80:
		return at + 7;
	case 0x84:
		return at + 8;
	default:
		return 0;
	}
}

#define X86_PADDING_MAX 16

/*
 * The end of the padding that begins at `at`, or `at` if there is none.  glibc's __memcpy_chk
 * runs through the padding behind it into memcpy, where unwind rules begin.
 */
static inline u64 native_code_skip_padding(struct mem *mem, u64 at)
{
	for (u32 i = 0; i < X86_PADDING_MAX; i++) {
		u8 bytes[11] = { 0 };
		if (mem_read_some(mem, bytes, sizeof bytes, at) == 0)
			break;
		u32 len = x86_nop_length(bytes, sizeof bytes);
		if (len == 0)
			break;
		at += len;
	}
	return at;
}

/* A rule for code without one, by its instructions; 0: unknown. */
static inline u64 native_code_rule(struct mem *mem, u64 lookup)
{
	/* For a return address lookup is one byte before it, in front of the trampoline. */
	if (x86_is_sigreturn(mem, lookup) || x86_is_sigreturn(mem, lookup + 1))
		return x86_sigreturn_rule();
	if (x86_is_outermost_call(mem, lookup + 1) || x86_is_before_halt(mem, lookup + 1) ||
	    x86_is_loaders_start(mem, lookup + 1))
		return X86_FORM_LAST;
	return x86_scan(mem, x86_follows_call(mem, lookup + 1) ? lookup + 1 : lookup,
			X86_SCAN_INSTRUCTIONS);
}

/*
 * Whether the code after a call passes its result to another call: exit(main()) and
 * pthread_exit(start()) look so in a C library without rules (musl).  A hint only, for code of
 * which nothing else is known.
 *
 *	mov %eax,%edi or mov %rax,%rdi; call
 */
static inline int native_passes_result_on(struct mem *mem, u64 return_address)
{
	u8 bytes[4];

	if (mem_read(mem, bytes, sizeof bytes, return_address) < 0)
		return 0;
	if (bytes[0] == 0x48)
		return bytes[1] == 0x89 && bytes[2] == 0xc7 && bytes[3] == 0xe8;
	return bytes[0] == 0x89 && bytes[1] == 0xc7 && bytes[2] == 0xe8;
}

/* The rule of an outermost frame. */
static inline u64 native_last_rule(void)
{
	return X86_FORM_LAST;
}

/* A rule: the return address is at rsp + depth; right below it, if depth > 0, the caller's rbp. */
static inline u64 native_depth_rule(u32 depth)
{
	struct cfa_row row = {
		.cfa = { .kind = CFA_BASE_REG, .reg = X86_RSP, .offset = (s32)depth + 8 }
	};

	row.column[CFA_COLUMN_RA] =
		(struct cfa_place){ .kind = CFA_PLACE_AT_CFA, .offset = -8 };
	row.column[CFA_COLUMN_SP] = (struct cfa_place){ .kind = CFA_PLACE_IS_CFA };
	if (depth >= 8)
		row.column[CFA_COLUMN_FP] =
			(struct cfa_place){ .kind = CFA_PLACE_AT_CFA, .offset = -16 };
	return native_rule_pack(&row, 0);
}

/* Without a rule, larger frames are not accepted. */
#define X86_FRAME_POINTER_REACH (1 << 20)

/*
 * The step for code without rules that keeps a frame pointer.  Taken only if rbp is aligned and
 * not far above rsp, the saved rbp is 0 or further out, the return address is a possible user
 * address, and a call instruction ends there.  The caller must check that it lies in a mapped
 * file.
 */
static inline enum walk_status native_step_frame_pointer(struct mem *mem,
							 struct native_regs *regs)
{
	u64 frame[2]; /* saved rbp, return address */

	if ((regs->fp & 7) != 0 || regs->fp < regs->sp ||
	    regs->fp - regs->sp > X86_FRAME_POINTER_REACH)
		return WALK_NO_RULE;
	if (mem_read(mem, frame, sizeof frame, regs->fp) < 0)
		return WALK_NO_RULE;
	if (frame[0] != 0 && (frame[0] <= regs->fp || (frame[0] & 7) != 0))
		return WALK_NO_RULE;
	if (!native_follows_call(mem, frame[1]))
		return WALK_NO_RULE;
	regs->ip = frame[1];
	regs->sp = regs->fp + 16;
	regs->fp = frame[0];
	regs->lr = 0;
	return WALK_COMPLETE;
}

#define X86_PROLOGUE_INSTRUCTIONS 6

/*
 * For a function that is about to set up a frame pointer: how many words lie between rsp and the
 * return address.  0: it will push rbp; 1: it will copy rsp to rbp; -1: neither.
 */
static inline int x86_prologue_words(struct mem *mem, u64 at)
{
	struct x86_insn insn;

	for (u32 i = 0; i < X86_PROLOGUE_INSTRUCTIONS; i++) {
		const u32 len = x86_insn_read(mem, at, &insn);
		const u8 opcode = insn.opcode;

		if (len == 0)
			return -1;
		at += len;
		if (insn.map != X86_MAP_ONE)
			continue;
		if (opcode == 0x55 && insn.rex == 0)
			return 0;
		if (!insn.is_memory && insn.is_wide &&
		    ((opcode == 0x89 && insn.rm == X86_BP && insn.reg == X86_SP) ||
		     (opcode == 0x8b && insn.reg == X86_BP && insn.rm == X86_SP)))
			return i == 0 ? 1 : -1;
		/*
		 * An instruction that moves the stack pointer or jumps does not belong to a
		 * prologue.
		 */
		if (opcode >> 4 == 5 || opcode == 0x68 || opcode == 0x6a || opcode >= 0xe8 ||
		    opcode >> 3 == 0xc0 >> 3 || x86_insn_writes(&insn) == X86_SP)
			return -1;
	}
	return -1;
}

/* The step out of such a function, in the innermost frame. */
static inline enum walk_status native_step_prologue(struct mem *mem, struct native_regs *regs)
{
	const int words = x86_prologue_words(mem, regs->ip);
	u64 top[2] = { 0, 0 };

	if (words < 0 || mem_read(mem, top, 8u * (u32)(words + 1), regs->sp) < 0 ||
	    !native_follows_call(mem, top[words]))
		return WALK_NO_RULE;
	regs->fp = words == 1 ? top[0] : regs->fp;
	regs->ip = top[words];
	regs->sp += 8u * (u32)(words + 1);
	return WALK_COMPLETE;
}

/*
 * The step out of a function whose caller has set up its frame and rbp, and that begins by
 * popping the return address into the frame (SBCL's: pop 8(%rbp)).
 */
static inline enum walk_status native_step_popped(struct mem *mem, struct native_regs *regs)
{
	static const u8 pop[3] = { 0x8f, 0x45, 0x08 };
	u8 code[sizeof pop];
	u64 return_address, fp;

	if (regs->fp < regs->sp || mem_read(mem, code, sizeof code, regs->ip) < 0 ||
	    !x86_are_same(code, pop, sizeof pop) || mem_read(mem, &fp, 8, regs->fp) < 0 ||
	    mem_read(mem, &return_address, 8, regs->sp) < 0 ||
	    !native_follows_call(mem, return_address))
		return WALK_NO_RULE;
	*regs = (struct native_regs){
		.ip = return_address, .sp = regs->sp + 8, .fp = fp, .bx = regs->bx
	};
	return WALK_COMPLETE;
}

/*
 * The step out of generated code.  With -X perf, CPython's trampolines are between each function
 * and its caller, and keep no frame pointer.  Taken only if regs->ip is exact or follows a call,
 * all instructions from there to the function's end are known, and the function returns to an
 * address where a call ends.  may_be_java: HotSpot is in the process (other code's frames may
 * contain words like those of HotSpot's frames, as SBCL's do); then frames of Java's interpreter
 * are recognised.  WALK_NO_MODULE: rbp is the frame of a caller further out, so
 * native_step_frame_pointer() would skip frames.
 */
static inline enum walk_status native_step_made_code(struct mem *mem, int is_exact,
						     int may_be_java, struct native_regs *regs)
{
	struct native_regs outer = *regs;
	struct native_step step = { 0 };
	u64 rule;

	if (!is_exact && !native_follows_call(mem, regs->ip))
		return WALK_NO_RULE;
	if (is_exact && (native_step_popped(mem, regs) == WALK_COMPLETE ||
			 native_step_prologue(mem, regs) == WALK_COMPLETE))
		return WALK_COMPLETE;
	const enum x86_hotspot_frame java =
		may_be_java ? x86_hotspot_frame(mem, regs, &outer) : X86_HOTSPOT_NONE;

	if (java == X86_HOTSPOT_INTERPRETED && x86_is_hotspot_bytecode(mem, regs->ip) &&
	    native_follows_call(mem, outer.ip)) {
		*regs = outer;
		return WALK_COMPLETE;
	}
	outer = *regs;
	rule = x86_scan(mem, regs->ip,
			java != X86_HOTSPOT_NONE ? X86_SCAN_JAVA : X86_SCAN_MADE);
	if (rule == 0 || native_step(mem, rule, &outer, &step) != WALK_COMPLETE ||
	    !native_follows_call(mem, outer.ip))
		return java == X86_HOTSPOT_INTERPRETED || (java == X86_HOTSPOT_ENTRY &&
							   !x86_reads_frame(mem, regs->ip))
			       ? WALK_NO_MODULE
			       : WALK_NO_RULE;
	*regs = outer;
	return WALK_COMPLETE;
}
