/*
 * saved_action - keeps a signal action of the program's while the kernel has one of ours.
 *
 * A handler may read it at any moment, so there is no lock: a write goes to a slot of its own and
 * is then made current.  A slot is used again after seven more writes; a slower reader reads again.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>

#include "abi/types.h"

#define SAVED_ACTION_SLOTS 8

struct saved_action {
	u32 taken;   /* slots handed out to writers */
	u32 current; /* the number of the latest */
	struct sigaction slots[SAVED_ACTION_SLOTS];
};

/* Copies the current action; returns its number. */
static inline u32 saved_action_read(const struct saved_action *saved, struct sigaction *out)
{
	u32 number;

	do {
		/* Pairs with the release in saved_action_write(): the slot is whole. */
		number = __atomic_load_n(&saved->current, __ATOMIC_ACQUIRE);
		*out = saved->slots[number % SAVED_ACTION_SLOTS];
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&saved->taken, __ATOMIC_RELAXED) - number >=
		 SAVED_ACTION_SLOTS);
	return number;
}

static inline bool saved_action_is_current(const struct saved_action *saved, u32 number)
{
	return __atomic_load_n(&saved->current, __ATOMIC_ACQUIRE) == number;
}

static inline u32 saved_action_fill(struct saved_action *saved, const struct sigaction *action)
{
	const u32 number = __atomic_add_fetch(&saved->taken, 1, __ATOMIC_RELAXED);

	__atomic_thread_fence(__ATOMIC_RELEASE);
	saved->slots[number % SAVED_ACTION_SLOTS] = *action;
	return number;
}

/*
 * Of several writers the last to take a slot wins, also if an earlier one is slower: current never
 * goes back, or it would name a slot that was used again since, and readers would never end.
 */
static inline void saved_action_write(struct saved_action *saved,
				      const struct sigaction *action)
{
	const u32 number = saved_action_fill(saved, action);
	u32 current = __atomic_load_n(&saved->current, __ATOMIC_RELAXED);

	/* Pairs with the acquire in saved_action_read(). */
	while ((s32)(number - current) > 0 &&
	       !__atomic_compare_exchange_n(&saved->current, &current, number, 0,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

/* Makes action current if the one with this number still is. */
static inline bool saved_action_replace(struct saved_action *saved, u32 number,
					const struct sigaction *action)
{
	const u32 next = saved_action_fill(saved, action);

	return __atomic_compare_exchange_n(&saved->current, &number, next, 0, __ATOMIC_RELEASE,
					   __ATOMIC_RELAXED);
}

static inline bool saved_action_is_handler(const struct sigaction *action)
{
	return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/*
 * The action for a signal that is being delivered; one with SA_RESETHAND is the default from
 * then on.  Of two threads that are sent it at once, one has it handled.
 */
static inline void saved_action_take(struct saved_action *saved, struct sigaction *out_action)
{
	struct sigaction reset;
	u32 number;

	do {
		number = saved_action_read(saved, out_action);
		if (!saved_action_is_handler(out_action) ||
		    !(out_action->sa_flags & (int)SA_RESETHAND))
			return;
		reset = *out_action;
		reset.sa_handler = SIG_DFL;
	} while (!saved_action_replace(saved, number, &reset));
}
