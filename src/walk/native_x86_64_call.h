/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * native_x86_64_call - whether an address is one that a call returns to.
 */
#pragma once
#include "mem.h"
#include "native_x86_64_hotspot.h"

/* Does the instruction that ends at `at` call something?  (call rel32, call *r/m) */
static inline int x86_follows_call(struct mem *mem, u64 at)
{
	u8 b[7] = { 0 }; /* the seven bytes before `at` */

	/* Code that is made at run time may begin with its page, and with a short call. */
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

/*
 * Whether a step that was guessed may have led to `ip`: a call instruction ends there, or HotSpot's
 * interpreter goes on.
 */
static inline int native_follows_call(struct mem *mem, u64 ip)
{
	return ip >= 4096 && ip < 1ULL << 47 &&
	       (x86_follows_call(mem, ip) || x86_is_hotspot_return(mem, ip));
}
