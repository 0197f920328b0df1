/*
 * trace_slot - where a function's return address lies, where its hook does not know.
 *
 * __fentry__() is called first, and mcount() behind the prologue, so the return address lies
 * above theirs, or above the saved rbp.  Of gcc's functions that is not so in two cases:
 *
 *   a function within a function, whose static chain is in r10: gcc pushes that before it calls
 *   __fentry__(), and pops it behind;
 *
 *   a function that aligns its stack and counts on where it was (as with alloca(), or arguments
 *   on the stack, beside variables of 32 bytes): it copies its return address to where the
 *   frame begins, and returns by the one that was copied.
 *
 * Both are seen by the code around the hook's call, so they are looked for when a callee is
 * found nowhere near.  That each of their calls comes there, their identities see to: not the
 * address behind the hook's call, by which most calls are found, but one that follows.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct trace_slot {
	u64 slot;     /* of the return address */
	u64 identity; /* of the callee: behind the hook's call, or what is said above */
};

/* A function that aligns its stack saves as many registers as it has to keep, and r10. */
#define TRACE_SLOT_SAVED 6U
/* By as much its stack is moved, at most: what is aligned to more is not looked for. */
#define TRACE_SLOT_MOVED (4U << 10)

/* `pop %r10`, behind the hook's call.  Nobody else begins so: it would be the return address. */
static inline bool trace_slot_pops_chain(u64 behind)
{
	static const u8 pop_r10[] = { 0x41, 0x5a };

	return __builtin_memcmp((const void *)behind, pop_r10, sizeof pop_r10) == 0;
}

/* Whether it may be one of the two: of a hook's call; is_first: __fentry__()'s. */
static inline bool trace_slot_may_be_odd(u64 slot, u64 behind, bool is_first)
{
	const u64 *saved = (const u64 *)slot - 1 - TRACE_SLOT_SAVED;
	bool is_odd = false;

	if (is_first)
		return trace_slot_pops_chain(behind);
	/* What r10 was is eight bytes above the address that was copied to the slot. */
	for (u32 i = 0; i < TRACE_SLOT_SAVED; i++)
		is_odd |= saved[i] - slot - 2 * sizeof(u64) < TRACE_SLOT_MOVED;
	return is_odd;
}
/* If so. */
struct trace_slot trace_slot_find(u64 slot, u64 behind, bool is_first);
/* By the identity of a function that begins with its hook, that is __fentry__()'s callers. */
u64 trace_slot_first_instruction(u64 identity);
/* Of the call that ends here. */
u32 trace_slot_call_bytes(u64 behind);
