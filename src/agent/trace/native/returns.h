/*
 * returns - replaces return addresses on the program's stack, to see when functions return.
 *
 * A function's return address, in its slot on the stack, is replaced by that of
 * trace_native_return(), which notes the end of the call and jumps to where the function was to
 * return.  The original is kept in a shadow of the stack, at a fixed distance from the slot.  So it
 * is found without knowing the thread, or what else is on its stack: a function that never returns
 * leaves nothing behind that could be taken for another's, however it was left.  And the unwind
 * table can describe it (the CFI of trace_native_return()), which is all that C++ exceptions,
 * pthread_exit(), pthread_cancel() and backtrace() need.
 *
 * Shadows are mapped a mebibyte at a time, where calls are made, and are never unmapped.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

/* Stacks lie in one half of the address space; the addresses with this bit flipped are free. */
#define TRACE_SHADOW_BIT 46U
#define TRACE_PIECE_BITS 20U

/* The piece (slot >> TRACE_PIECE_BITS) whose shadow the calling thread used last. */
extern __thread u64 trace_returns_piece;

/* In native/entries_x86_64.S. */
void trace_native_return(void);

/* Whether return addresses may be replaced in this process: not with a hardware shadow stack. */
bool trace_returns_are_possible(void);
/* Whether the slot has a shadow; maps one if needed. */
bool trace_returns_have_shadow(u64 slot);

/* In a child of fork: no other thread is mapping a shadow. */
void trace_returns_forget_others(void);

static inline u64 *trace_returns_shadow(u64 slot)
{
	return (u64 *)(slot ^ 1ULL << TRACE_SHADOW_BIT);
}

/*
 * Replaces the return address at slot.  If ours is there already, the function was jumped to by one
 * whose address we had replaced (a tail call).
 */
static inline void trace_returns_exchange(u64 slot)
{
	u64 *place = (u64 *)slot;
	const u64 ours = (u64)trace_native_return;

	if (*place == ours)
		return;
	/* A signal handler in between finds one or the other. */
	__atomic_store_n(trace_returns_shadow(slot), *place, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(place, ours, __ATOMIC_RELAXED);
}

/* Restores the original return address.  False: it was not replaced. */
static inline bool trace_returns_put_back(u64 slot)
{
	u64 *place = (u64 *)slot;

	if (*place != (u64)trace_native_return)
		return false;
	__atomic_store_n(place, *trace_returns_shadow(slot), __ATOMIC_RELAXED);
	return true;
}
