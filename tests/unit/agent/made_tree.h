/*
 * made_tree - a thread's calls on a clock made by hand, for tests of what they come to.
 */
#pragma once
#include "agent/trace/calls.h"

#define MADE_TREE_ENTRIES 16384

struct made_tree {
	struct call_stack calls;
	struct trace_area *area;
	u64 now, first;
	/* Of the index: how many it may map, and how many there are. */
	int maps_left, maps_made;
	struct trace_entry entries[MADE_TREE_ENTRIES];
};

/* For cmocka: *state is the one there is, with nothing called so far, and one map left. */
int made_tree_setup(void **state);
int made_tree_teardown(void **state);
/* The callee's node below the innermost call, which is made if it is not there. */
u32 made_tree_place(struct made_tree *made, u64 identity);
/* A call, and its end, so many ticks after what was before. */
void made_tree_enter(struct made_tree *made, u64 function, u64 ticks);
void made_tree_leave(struct made_tree *made, u64 function, u64 ticks);
/* The first node of that identity; the test fails if there is none. */
const struct trace_node *made_tree_node(const struct made_tree *made, u64 identity);
/* The ticks of all nodes, their calls, and how deep the deepest is. */
u64 made_tree_sum(const struct made_tree *made, u64 *out_calls, u32 *out_depth);
