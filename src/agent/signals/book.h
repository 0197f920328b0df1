/*
 * book - an action of the program's that the kernel does not have, since it has one of ours.
 *
 * A handler may read it at any moment, so there is no lock: a write goes to a slot of its own
 * and is then made current.  A slot is used again after seven more writes; a reader that is so
 * slow reads again.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>

#include "abi/types.h"

#define BOOK_SLOTS 8

struct book {
	u32 taken;   /* slots handed out to writers */
	u32 current; /* the number of the latest */
	struct sigaction slots[BOOK_SLOTS];
};

/* Copies the current action; returns its number. */
static inline u32 book_read(const struct book *book, struct sigaction *out)
{
	u32 number;

	do {
		/* Pairs with the release in book_write(): the slot is whole. */
		number = __atomic_load_n(&book->current, __ATOMIC_ACQUIRE);
		*out = book->slots[number % BOOK_SLOTS];
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&book->taken, __ATOMIC_RELAXED) - number >= BOOK_SLOTS);
	return number;
}

static inline bool book_is_current(const struct book *book, u32 number)
{
	return __atomic_load_n(&book->current, __ATOMIC_ACQUIRE) == number;
}

static inline u32 book_fill_slot(struct book *book, const struct sigaction *action)
{
	const u32 number = __atomic_add_fetch(&book->taken, 1, __ATOMIC_RELAXED);

	__atomic_thread_fence(__ATOMIC_RELEASE);
	book->slots[number % BOOK_SLOTS] = *action;
	return number;
}

/*
 * Of several writers the latest to take a slot is right, also where another is slower: current
 * never goes back, or it would name a slot that was used again since, and no reader end.
 */
static inline void book_write(struct book *book, const struct sigaction *action)
{
	const u32 number = book_fill_slot(book, action);
	u32 current = __atomic_load_n(&book->current, __ATOMIC_RELAXED);

	/* Pairs with the acquire in book_read(). */
	while ((s32)(number - current) > 0 &&
	       !__atomic_compare_exchange_n(&book->current, &current, number, 0,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

/* Makes action current if the one with this number still is. */
static inline bool book_replace(struct book *book, u32 number, const struct sigaction *action)
{
	const u32 next = book_fill_slot(book, action);

	return __atomic_compare_exchange_n(&book->current, &number, next, 0, __ATOMIC_RELEASE,
					   __ATOMIC_RELAXED);
}

static inline bool book_is_handler(const struct sigaction *action)
{
	return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/*
 * The action for a signal that is being delivered; one with SA_RESETHAND is the default from
 * then on.  Of two threads that are sent it at once, one has it handled.
 */
static inline void book_take(struct book *book, struct sigaction *out_action)
{
	struct sigaction reset;
	u32 number;

	do {
		number = book_read(book, out_action);
		if (!book_is_handler(out_action) || !(out_action->sa_flags & (int)SA_RESETHAND))
			return;
		reset = *out_action;
		reset.sa_handler = SIG_DFL;
	} while (!book_replace(book, number, &reset));
}
