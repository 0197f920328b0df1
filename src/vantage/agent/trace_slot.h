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

/* Of a hook's call: is_first: __fentry__()'s. */
struct trace_slot trace_slot_find(u64 slot, u64 behind, bool is_first);
/* By the identity of a function that begins with its hook, that is __fentry__()'s callers. */
u64 trace_slot_first_instruction(u64 identity);
/* Of the call that ends here. */
u32 trace_slot_call_bytes(u64 behind);
