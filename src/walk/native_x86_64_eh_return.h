/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * native_x86_64_eh_return - the step out of a function that is about to jump to a landing pad.
 *
 * libgcc's _Unwind_RaiseException, _Unwind_Resume and the like end in __builtin_eh_return().
 * Before that they overwrite the registers saved in their own frame, one after the other, with
 * the values for the frame that has the landing pad; last the return address, with the address
 * behind that frame's last call, then with the pad's.  From the first of these stores until the
 * stack pointer is changed, their unwind rules yield values of different frames.
 *
 * The rules of such functions are marked (X86_EH_RETURN), since no other function saves rax and
 * rdx.  The final part is recognised by its instructions, which lead to `jmp *register`.  There:
 *
 *	the return address follows a call of this function	it is still the true one, and rbp
 *								is if no frame can lie below it
 *	else that address is on the stack again, where the	the frame with the landing pad is
 *	call pushed it: all frames in between are discarded	the caller
 *	else, and once the pad is stored: no store is left	WALK_UNWINDING
 */
#pragma once
#include "native_x86_64.h"
#include "native_x86_64_call.h"
#include "native_x86_64_insn.h"
#include "eh_frame_search.h"

/* Most instructions from the first such store to the jump, and calls among them (a hook's). */
#define X86_EH_INSTRUCTIONS 64
#define X86_EH_CALLS        1
/* How many words further out a landing pad's frame may be, and how many are read at once. */
#define X86_EH_REACH 32768
#define X86_EH_CHUNK 32
/* Bytes of a caller's frame that are searched for another frame. */
#define X86_EH_FRAME 1024

/* Whether a step by this rule needs native_step_eh_return(). */
static inline int native_rule_is_eh_return(u64 rule)
{
	return (rule & 15) == X86_FORM_FP && (rule & X86_EH_RETURN) != 0;
}

enum x86_eh_part {
	X86_EH_STAYING,
	X86_EH_LEAVING, /* it is storing values, and will jump to a landing pad */
	X86_EH_LEFT,    /* all values are stored */
};

static inline enum x86_eh_part x86_eh_part_at(struct mem *mem, u64 at)
{
	enum x86_eh_part part = X86_EH_LEFT;
	struct x86_insn insn;
	u32 calls = 0;

	for (u32 i = 0; i < X86_EH_INSTRUCTIONS; i++) {
		const u32 len = x86_insn_read(mem, at, &insn);

		if (len == 0)
			return X86_EH_STAYING;
		at += len;
		if (insn.map != X86_MAP_ONE)
			continue;
		if (insn.opcode == 0x89 && insn.is_memory)
			part = X86_EH_LEAVING;
		else if (insn.opcode == 0xe9 || insn.opcode == 0xeb)
			at += (u64)(s64)insn.immediate;
		else if (insn.opcode == 0xff && !insn.is_memory && (insn.reg & 7) == 4)
			return part;
		else if (insn.opcode == 0xc3 ||
			 (insn.opcode == 0xe8 && calls++ == X86_EH_CALLS))
			return X86_EH_STAYING;
	}
	return X86_EH_STAYING;
}

/* The target of a `call`, or `jmp`, at `at`, direct or through a word in memory; 0: unknown. */
static inline u64 x86_eh_target(struct mem *mem, u64 at, int is_call)
{
	struct x86_insn insn;
	const u32 len = x86_insn_read(mem, at, &insn);
	u64 target;

	if (len == 0 || insn.map != X86_MAP_ONE)
		return 0;
	if (is_call ? insn.opcode == 0xe8 : insn.opcode == 0xe9 || insn.opcode == 0xeb)
		return at + len + (u64)(s64)insn.immediate;
	/* … *displacement(%rip) */
	if (insn.opcode != 0xff || insn.at < 6 ||
	    insn.bytes[insn.at - 5] != (is_call ? 0x15 : 0x25))
		return 0;
	if (mem_read(mem, &target, sizeof target,
		     at + len + (u64)(s64)x86_insn_s32(&insn, insn.at - 4u)) < 0)
		return 0;
	return target;
}

/* The target of a stub (endbr64; jmp) at `at`; 0: no stub. */
static inline u64 x86_eh_stub_target(struct mem *mem, u64 at)
{
	u32 word = 0;

	if (mem_read(mem, &word, sizeof word, at) < 0)
		return 0;
	return x86_eh_target(mem, at + (word == 0xfa1e0ff3 ? 4 : 0), 0);
}

enum x86_eh_leads {
	X86_EH_ELSEWHERE,
	X86_EH_HERE,
	X86_EH_UNKNOWN,
};

/*
 * Whether the call that ends at `ip` calls `function`, perhaps through stubs (endbr64; jmp).
 * *out_last: the last known target behind stubs; 0: unknown.
 */
static inline enum x86_eh_leads x86_eh_call_leads(struct mem *mem, u64 ip, u64 function,
						  u64 *out_last)
{
	u8 bytes[6];
	u64 target;

	*out_last = 0;
	if (mem_read(mem, bytes, sizeof bytes, ip - sizeof bytes) < 0)
		return X86_EH_UNKNOWN;
	if (bytes[0] == 0xff && bytes[1] == 0x15)
		target = x86_eh_target(mem, ip - 6, 1);
	else if (bytes[1] == 0xe8)
		target = x86_eh_target(mem, ip - 5, 1);
	else
		return X86_EH_UNKNOWN;
	for (u32 i = 0; i < 3 && target != 0; i++) {
		*out_last = target;
		if (target == function)
			return X86_EH_HERE;
		target = x86_eh_stub_target(mem, target);
	}
	return X86_EH_ELSEWHERE;
}

/*
 * False: the call that ends at `ip` calls another function, *out_other, which may jump to
 * `function`.
 */
static inline int native_call_may_lead(struct mem *mem, u64 ip, u64 function, u64 *out_other)
{
	return x86_eh_call_leads(mem, ip, function, out_other) != X86_EH_ELSEWHERE;
}

/* The length of a jump (jmp or jcc, short or long), and its distance; 0: no jump. */
static inline u32 x86_jump(const u8 *bytes, u32 len, s64 *out_by)
{
	const u32 opcode = bytes[0] == 0x0f ? 2 : 1;

	if (len >= 2 && (bytes[0] == 0xeb || (bytes[0] & 0xf0) == 0x70)) {
		*out_by = (s8)bytes[1];
		return 2;
	}
	if (len < opcode + 4 || (opcode == 2 ? (bytes[1] & 0xf0) != 0x80 : bytes[0] != 0xe9))
		return 0;
	*out_by = (s32)((u32)bytes[opcode] | (u32)bytes[opcode + 1] << 8 |
			(u32)bytes[opcode + 2] << 16 | (u32)bytes[opcode + 3] << 24);
	return opcode + 4;
}

/*
 * Whether the bytes, which lie at `at`, contain a jump into [begin, end), perhaps through a stub:
 * a tail call, or a jump to a part of the function elsewhere.  A short jump counts only if its
 * target is `begin`, as two matching bytes are easily found by chance.
 */
static inline int native_jumps_into(struct mem *mem, const u8 *bytes, u32 len, u64 at,
				    u64 begin, u64 end)
{
	for (u32 i = 0; i < len; i++) {
		s64 by = 0;
		const u32 size = x86_jump(bytes + i, len - i, &by);
		u64 target = at + i + size + (u64)by;

		if (size == 0)
			continue;
		if (bytes[i] == 0xe9 && (target < begin || target >= end))
			target = x86_eh_stub_target(mem, target);
		if (target == begin || (size > 2 && target > begin && target < end))
			return 1;
	}
	return 0;
}

/* The next place from sp outwards where the stack holds `word`; 0: none in reach. */
static inline u64 x86_eh_find_word(struct mem *mem, u64 sp, u64 word)
{
	u64 chunk[X86_EH_CHUNK];

	for (u32 done = 0; done < X86_EH_REACH; done += X86_EH_CHUNK) {
		const u64 at = sp + (u64)done * 8;
		const u32 count = mem_read_some(mem, chunk, sizeof chunk, at) / 8;

		for (u32 i = 0; i < X86_EH_CHUNK && i < count; i++)
			if (chunk[i] == word)
				return at + (u64)i * 8;
		if (count < X86_EH_CHUNK)
			return 0;
	}
	return 0;
}

/*
 * The frame pointer of the caller whose stack pointer is sp; or X86_FP_GONE if it may be of a
 * frame further out: then the caller's return address is between sp and fp.
 */
static inline u64 x86_eh_frame_pointer(struct mem *mem, u64 sp, u64 fp)
{
	u64 word;

	if ((fp & 7) != 0 || fp < sp || fp - sp > X86_EH_FRAME)
		return X86_FP_GONE;
	for (u32 i = 0; i < X86_EH_FRAME / 8 && sp + (u64)i * 8 < fp; i++)
		if (mem_read(mem, &word, sizeof word, sp + (u64)i * 8) < 0 ||
		    native_follows_call(mem, word))
			return X86_FP_GONE;
	return fp;
}

/* native_step() for a rule for which native_rule_is_eh_return(). */
static inline enum walk_status native_step_eh_return(struct mem *mem, struct eh_lookup *scratch,
						     const struct native_image *image, u64 rule,
						     struct native_regs *regs,
						     struct native_step *out_step)
{
	const u64 ip = regs->ip;
	const enum walk_status status = native_step(mem, rule, regs, out_step);

	if (status != WALK_COMPLETE || out_step->is_last)
		return status;
	const enum x86_eh_part part = x86_eh_part_at(mem, ip);

	if (part == X86_EH_STAYING || eh_lookup_find(scratch, mem, image, ip) != WALK_COMPLETE)
		return status;
	u64 other;
	const enum x86_eh_leads leads =
		x86_eh_call_leads(mem, regs->ip, scratch->fde.begin, &other);
	if (part == X86_EH_LEFT && leads != X86_EH_HERE)
		return WALK_UNWINDING;
	const u64 slot = leads == X86_EH_HERE ? 0 : x86_eh_find_word(mem, regs->sp, regs->ip);

	if (slot != 0)
		regs->sp = slot + 8;
	else if (leads == X86_EH_ELSEWHERE)
		return WALK_UNWINDING;
	else
		regs->fp = x86_eh_frame_pointer(mem, regs->sp, regs->fp);
	return WALK_COMPLETE;
}
