#include "agent/trace/native/returns.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/core/permits.h"
#include "agent/core/arch.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 /* since Linux 4.17 */
#endif

#define PIECES      8192U /* shadows for 8 GiB of stacks */
#define PIECE_BYTES (1UL << TRACE_PIECE_BITS)

enum piece_state {
	PIECE_BEING_MADE = 1,
	PIECE_THERE,
	PIECE_REFUSED,
};
#define PIECE_STATE_BITS 2

__thread u64 trace_returns_piece;

static struct {
	u64 pieces[PIECES]; /* number and state, by a hash of the number; 0: free */
	u32 being_made;
} shadow;

bool trace_returns_are_possible(void)
{
	return !arch_has_shadow_stack();
}

static bool map_shadow(u64 number)
{
	const u64 wanted = (u64)trace_returns_shadow(number << TRACE_PIECE_BITS);
	const long got = arch_syscall6(
		SYS_mmap, (long)wanted, PIECE_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (got > 0 && (u64)got != wanted)
		arch_syscall4(SYS_munmap, got, PIECE_BYTES, 0, 0);
	return (u64)got == wanted;
}

static void set_state(u64 *entry, u64 number, bool is_there)
{
	/* Pairs with the acquire in trace_returns_have_shadow(). */
	__atomic_store_n(entry,
			 number << PIECE_STATE_BITS |
				 (u64)(is_there ? PIECE_THERE : PIECE_REFUSED),
			 __ATOMIC_RELEASE);
}

/*
 * Maps the shadow of a piece.  Other threads with a stack in this piece do not wait: until it is
 * there, the ends of their calls are not seen.
 */
static bool make_piece(u64 *entry, u64 number)
{
	u64 is_free = 0;

	if (!__atomic_load_n(&permits.may_call, __ATOMIC_RELAXED) ||
	    !__atomic_compare_exchange_n(entry, &is_free,
					 number << PIECE_STATE_BITS | PIECE_BEING_MADE, 0,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	__atomic_fetch_add(&shadow.being_made, 1, __ATOMIC_RELAXED);
	const bool is_there = map_shadow(number);

	set_state(entry, number, is_there);
	__atomic_fetch_sub(&shadow.being_made, 1, __ATOMIC_RELAXED);
	return is_there;
}

/* A thread of the parent may or may not have mapped a piece being made: map it if not. */
void trace_returns_forget_others(void)
{
	if (shadow.being_made == 0)
		return;
	for (u32 i = 0; i < PIECES; i++) {
		const u64 number = shadow.pieces[i] >> PIECE_STATE_BITS;

		if (shadow.pieces[i] == (number << PIECE_STATE_BITS | PIECE_BEING_MADE))
			set_state(&shadow.pieces[i], number,
				  permits.may_call && map_shadow(number));
	}
	shadow.being_made = 0;
}

bool trace_returns_have_shadow(u64 slot)
{
	const u64 number = slot >> TRACE_PIECE_BITS;
	const u64 hash = number * 0x9e3779b97f4a7c15ULL >> 32;

	for (u32 i = 0; i < PIECES; i++) {
		u64 *entry = &shadow.pieces[(hash + i) % PIECES];
		const u64 found = __atomic_load_n(entry, __ATOMIC_ACQUIRE);

		if (found == 0 ? !make_piece(entry, number)
			       : found != (number << PIECE_STATE_BITS | PIECE_THERE)) {
			if (found != 0 && found >> PIECE_STATE_BITS != number)
				continue;
			return false;
		}
		trace_returns_piece = number;
		return true;
	}
	return false;
}
