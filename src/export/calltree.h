/*
 * calltree - a profile's stacks merged by a key of their frames, in pre-order.
 *
 * A profile keeps stacks by frame, that is by line; what exporters write goes by
 * function or by label.  Nodes with the same path of keys become one.  Every
 * subtree is a run of nodes: node i and those behind it, up to nodes[i].end.
 * Inside export/ only.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

enum calltree_order {
	CALLTREE_BY_KEY,    /* siblings by key, ascending */
	CALLTREE_BY_WEIGHT, /* the heaviest sibling first; by key where they weigh the same */
};

struct calltree_terms {
	const uint32_t *key_of_frame; /* for each frame id, and for id 0 */
	/* For each state: a leaf below the stack of each weight.  NULL: there is none. */
	const uint32_t *key_of_state;
	enum calltree_order order;
};

struct calltree_node {
	uint32_t parent; /* 0 for children of the root, and for the root */
	uint32_t key;    /* 0 for the root */
	uint32_t end;    /* the first node behind the subtree */
	bool is_inlined; /* in every stack that comes by */
	uint64_t self_ns, total_ns;
	uint64_t self_count, total_count; /* of samples; of a trace, of calls */
};

/* What one thread spent in one node itself, in one state. */
struct calltree_row {
	uint32_t thread; /* thread_id.n; 0: none */
	uint32_t node;
	uint32_t state; /* enum thread_state */
	uint64_t ns;
	uint64_t count;
};

struct calltree {
	struct calltree_node *nodes; /* 0 is the root, which stands for everything */
	size_t node_count;
	struct calltree_row *rows; /* by thread, node, state: each three once */
	size_t row_count;
	uint32_t *node_of_stack; /* by stack id; 0 for stacks without time */
};

/* Merges the profile's stacks.  Weights of no time and no samples or calls are left out. */
void calltree_init(struct calltree *tree, const struct profile *profile,
		   const struct calltree_terms *terms);
/*
 * Merges them by function (the keys are function ids), the heaviest sibling first.  key_of_state
 * is as in the terms.
 */
void calltree_init_by_function(struct calltree *tree, const struct profile *profile,
			       const uint32_t *key_of_state);
void calltree_done(struct calltree *tree);
/*
 * Writes the nodes on the way from the root's child down to node into path, which has room
 * for calltree_depth() of them, and returns how many there are.
 */
size_t calltree_path(const struct calltree *tree, uint32_t node, uint32_t *path);
/* The length of the longest path. */
size_t calltree_depth(const struct calltree *tree);
