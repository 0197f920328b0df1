/*
 * tree - stacks merged by function over all threads: top-down, callers, callees.
 *
 * Nodes point with indices; node 0 is the root, and parents come before their children.
 * Children are in descending order of their total.
 *
 * Callers and callees of a function F divide its total, each weight once, however often F is on
 * the stack. Callers go outwards from its outermost call, callees inwards from its innermost:
 * time in callees of a recursive F counts in the innermost F.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile/intervals.h"

struct filter;

struct tree_node {
	struct function_id function; /* none at the root */
	uint32_t parent;
	uint32_t first_child; /* 0: none */
	uint32_t next_sibling;
	uint32_t depth; /* 0 at the root */
	uint64_t self_ns, total_ns;
	uint64_t self_samples, total_samples;
	/*
	 * Of a trace: calls on this very path; and including those of the nodes below, which in
	 * a tree of callers are the calls that came through this one.
	 */
	uint64_t self_calls, total_calls;
	struct intervals intervals;
	bool has_intervals; /* of samples, in top-down trees */
};

struct tree {
	struct tree_node *nodes;
	size_t count; /* including the root */
	size_t capacity;
	bool is_saturated;
};

/* From the outermost functions inwards. filter may be NULL. Release with tree_done(). */
void tree_top_down(const struct profile *profile, const struct filter *filter,
		   struct tree *out_tree);
/*
 * The root stands for the selected functions (by function id, as find_functions() sets it); its
 * children are their callers, the children of these their callers in turn. A node's self is the
 * time for which nothing called it. A call inside another selected function adds to its
 * caller's calls, but not to the time, which is the outer call's.
 */
void tree_callers(const struct tree *top_down, const bool *is_meant, struct tree *out_tree);
/* Likewise inwards: the root's self is the selected functions' own time. */
void tree_callees(const struct tree *top_down, const bool *is_meant, struct tree *out_tree);
void tree_done(struct tree *tree);
