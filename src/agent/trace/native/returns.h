/*
 * returns - return addresses of our own in the place of a program's.
 *
 * Where a function's return address lies, its slot, there is put the address of
 * trace_native_return(), which sees the end of the call and goes on to where the function was
 * to return.  That is kept by the slot's address: in a shadow of the stack, a fixed distance
 * away.  So it can be found without knowing the thread, or what else is on its stack: a
 * function that is never returned from leaves nothing that could be taken for another's,
 * however it was left; and the unwind table can say it (the CFI of trace_native_return()),
 * which is all that C++ exceptions, pthread_exit(), pthread_cancel() and backtrace() look at.
 *
 * A shadow is mapped a mebibyte at a time, where calls are made, and stays.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

/* Neighbours of stacks are within half of what a process has; the other half is free there. */
#define TRACE_SHADOW_BIT 46U
#define TRACE_PIECE_BITS 20U

/* The last one the calling thread asked for: by slot >> TRACE_PIECE_BITS. */
extern __thread u64 trace_returns_piece;

/* In the text of native/entries_x86_64.S. */
void trace_native_return(void);

/* Whether return addresses may be exchanged in this process. */
bool trace_returns_are_possible(void);
/* Whether there is a shadow of what is at a slot: it is made where there is none. */
bool trace_returns_have_shadow(u64 slot);

/* In a child of fork: no other thread is making one. */
void trace_returns_forget_others(void);

static inline u64 *trace_returns_shadow(u64 slot)
{
	return (u64 *)(slot ^ 1ULL << TRACE_SHADOW_BIT);
}

/*
 * Its end will be seen.  What is there already was put there by the function that jumped here.
 */
static inline void trace_returns_exchange(u64 slot)
{
	u64 *place = (u64 *)slot;
	const u64 ours = (u64)trace_native_return;

	if (*place == ours)
		return;
	/* What looks at the stack in between finds one or the other. */
	__atomic_store_n(trace_returns_shadow(slot), *place, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(place, ours, __ATOMIC_RELAXED);
}

/* The function returns to where it would without us.  False: its address is in its place. */
static inline bool trace_returns_put_back(u64 slot)
{
	u64 *place = (u64 *)slot;

	if (*place != (u64)trace_native_return)
		return false;
	__atomic_store_n(place, *trace_returns_shadow(slot), __ATOMIC_RELAXED);
	return true;
}
