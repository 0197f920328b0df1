/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * native_regs - the registers a walk carries from frame to frame.
 */
#pragma once
#include "abi/types.h"

struct native_regs {
	u64 ip, sp;
	u64 fp; /* rbp, x29 */
	u64 bx; /* rbx; not used on aarch64 */
	/*
	 * aarch64: x30 of the innermost frame, or of one interrupted by a signal.
	 * x86-64: for the innermost frame, the value of the register that
	 * native_rule_leaf_register() returns; 0 if unknown.  A step clears it.
	 */
	u64 lr;
};

struct native_step {
	u8 is_last; /* this was the outermost frame; regs are untouched */
	u8 is_exact; /* the new ip is no return address: it was interrupted, or is a landing pad */
	/*
	 * The frame was a signal frame: nothing called it, and its ip is exact, too.  With
	 * is_last: the bottom of a stack that the program made, which nothing called either.
	 */
	u8 is_signal;
};

/* No further register is needed. */
#define NATIVE_NO_REGISTER 0xff

/* A signed field of `bits` bits at `shift`. */
static inline s64 native_field(u64 rule, u32 shift, u32 bits)
{
	return (s64)(rule << (64 - shift - bits)) >> (64 - bits);
}

/* Puts value / 8 into a signed field; sets *is_bad if it does not fit or is no multiple. */
static inline u64 native_slots(s64 value, u32 shift, u32 bits, u8 *is_bad)
{
	s64 slots = value >> 3;
	s64 limit = 1LL << (bits - 1);

	if ((value & 7) != 0 || slots < -limit || slots >= limit)
		*is_bad = 1;
	return ((u64)slots & ((1ULL << bits) - 1)) << shift;
}
