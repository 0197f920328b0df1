/*
 * stack_set - the stacks of a profile, each stored once, as a prefix tree.
 *
 * A long recording whose stacks hardly repeat has tens of millions: each takes 12 bytes, and 5
 * to 11 in the index. A zero-initialized set is empty.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "profile/ids.h"

struct stack_set {
	struct stack *stacks; /* by id - 1 */
	size_t count, capacity;
	uint32_t *slots; /* hash table of ids, 0: free; its size is a power of two */
	size_t slot_count;
};

/* The stack with this frame on top of parent; the same content gives the same id. */
struct stack_id stack_set_add(struct stack_set *set, struct stack_id parent,
			      struct frame_id frame);
void stack_set_done(struct stack_set *set);
