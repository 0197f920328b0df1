/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * native_x86_64_call - recognises addresses that a call returns to, and the bottom of a stack.
 */
#pragma once
#include "mem.h"
#include "native_x86_64_hotspot.h"

/* Whether the instruction that ends at `at` is a call (call rel32, call *r/m). */
static inline int x86_follows_call(struct mem *mem, u64 at)
{
	u8 b[7] = { 0 }; /* the seven bytes before `at` */

	/* Generated code may begin at its page's start, with a short call. */
	if (mem_read(mem, b, sizeof b, at - sizeof b) < 0 &&
	    mem_read(mem, b + 5, 2, at - 2) < 0)
		return 0;
	if (b[2] == 0xe8)
		return 1;
	/* ff /2: the middle bits of the ModRM byte are 010; the rest says how long it is. */
	for (u32 i = 0; i < 6; i++) {
		u32 call_len = 7 - i;
		u8 modrm = b[i + 1];
		u32 has_sib = (modrm & 7) == 4 && modrm >> 6 != 3;
		u32 displacement = modrm >> 6 == 1 ? 1 : modrm >> 6 == 2 ? 4 : 0;

		if (modrm >> 6 == 0 && (modrm & 7) == 5)
			displacement = 4; /* relative to rip */
		if (has_sib && modrm >> 6 == 0 && i + 2 < 7 && (b[i + 2] & 7) == 5)
			displacement = 4; /* no base register */
		if (b[i] == 0xff && (modrm >> 3 & 7) == 2 &&
		    call_len == 2 + has_sib + displacement)
			return 1;
	}
	return 0;
}

/* len must be a constant. */
static inline int x86_are_same(const u8 *bytes, const u8 *code, u32 len)
{
	for (u32 i = 0; i < len; i++)
		if (bytes[i] != code[i])
			return 0;
	return 1;
}

/*
 * Whether `at` is the address that a stack made by the program begins with: no call returns
 * there; it was written as the return address of the stack's first function.  makecontext(3)
 * writes __start_context (mov %rbx,%rsp; mov (%rsp),%rdi; test %rdi,%rdi); boost's make_fcontext,
 * copied by PHP's fibers and others, writes the end of its own code (push %rbp; jmp *%rbx, then
 * xor %rdi,%rdi; call _exit).  Go writes the second instruction of runtime.goexit: after int3 and
 * nop, before a call and a nop.
 */
static inline int native_is_stack_bottom(struct mem *mem, u64 at)
{
	static const u8 context[] = {
		0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff
	};
	static const u8 fiber[] = { 0x55, 0xff, 0xe3, 0x48, 0x31, 0xff, 0xe8 };
	u8 before[sizeof fiber], behind[sizeof context];
	u8 go[8];

	return (mem_read(mem, behind, sizeof behind, at) == 0 &&
		x86_are_same(behind, context, sizeof context)) ||
	       (mem_read(mem, before, sizeof before, at - 3) == 0 &&
		x86_are_same(before, fiber, sizeof fiber)) ||
	       (mem_read(mem, go, sizeof go, at - 2) == 0 && go[0] == 0xcc && go[1] == 0x90 &&
		go[2] == 0xe8 && go[7] == 0x90);
}

/*
 * Whether a guessed step to `ip` is plausible: a call instruction ends there, HotSpot's
 * interpreter continues there, or it is the bottom of a stack.
 */
static inline int native_follows_call(struct mem *mem, u64 ip)
{
	return ip >= 4096 && ip < 1ULL << 47 &&
	       (x86_follows_call(mem, ip) || x86_is_hotspot_return(mem, ip) ||
		native_is_stack_bottom(mem, ip));
}
