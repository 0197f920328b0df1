/*
 * blame - what made threads wait, on the wall clock: which thread held what they waited for,
 * and what that thread did meanwhile.
 *
 * Part of a profile's info (profile/info.h), in no order.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * The time that a thread waited in one stack while the owner of what it waited for was in one
 * stack.
 */
struct blame {
	enum thread_state state; /* of the waiting thread */
	struct thread_id waiter;
	struct thread_id owner; /* n is 0 where it is unknown */
	/* n is 0 in the owner's where it is unknown what it did. */
	struct stack_id waiter_stack, owner_stack;
	uint64_t ns;
	uint64_t waits; /* that were observed */
};

struct blames {
	struct blame *rows;
	size_t count;
	int is_cut; /* the recording is too long: only its first part is here */
};
