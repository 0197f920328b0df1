/*
 * blame - what made threads wait, on the wall clock: which thread held what they waited for, and
 * what it did meanwhile.
 *
 * Part of a profile's info (profile/info.h), in no order.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/* Time that threads waited in one place while another was in one place. */
struct blame {
	enum thread_state state; /* of the one that waits */
	struct thread_id waiter;
	struct thread_id owner; /* n is 0 where it is not known */
	/* The owner's: n is 0 where it is not known what it did. */
	struct stack_id waiter_stack, owner_stack;
	uint64_t ns;
	uint64_t waits; /* that were looked at */
};

struct blames {
	struct blame *rows;
	size_t count;
	int is_cut; /* the recording is too long: its first part only */
};
