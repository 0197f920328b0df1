/*
 * calltree - a profile's stacks merged by a key of their frames, in pre-order.
 *
 * A profile keeps stacks by frame, which includes the line; exporters write functions or
 * labels. Nodes with the same path of keys become one. Every subtree is contiguous: node i and
 * those after it, up to nodes[i].end. Inside export/ only.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

enum calltree_order {
	CALLTREE_BY_KEY,    /* siblings by key, ascending */
	CALLTREE_BY_WEIGHT, /* the heaviest sibling first; equal weights by key */
};

struct calltree_terms {
	const uint32_t *key_of_frame; /* by frame id, including 0 */
	/*
	 * By state: the key of a leaf added below the stack of each weight. NULL: no such
	 * leaves.
	 */
	const uint32_t *key_of_state;
	enum calltree_order order;
};

struct calltree_node {
	uint32_t parent; /* 0 for children of the root, and for the root */
	uint32_t key;    /* 0 for the root */
	uint32_t end;    /* the first node after the subtree */
	bool is_inlined; /* inlined in every stack that has the node */
	uint64_t self_ns, total_ns;
	uint64_t self_count, total_count; /* number of samples; of a trace, of calls */
};

/* The time that one thread spent in one node itself, in one state. */
struct calltree_row {
	uint32_t thread; /* thread_id.n; 0: none */
	uint32_t node;
	uint32_t state; /* enum thread_state */
	uint64_t ns;
	uint64_t count;
};

struct calltree {
	struct calltree_node *nodes; /* 0 is the root */
	size_t node_count;
	struct calltree_row *rows; /* sorted by thread, node, state; each combination once */
	size_t row_count;
	uint32_t *node_of_stack; /* by stack id; 0 for stacks without time */
};

/* Merges the profile's stacks. Weights without time, samples and calls are left out. */
void calltree_init(struct calltree *tree, const struct profile *profile,
		   const struct calltree_terms *terms);
/*
 * Merges by function (keys are function ids), the heaviest sibling first. key_of_state is as in
 * struct calltree_terms.
 */
void calltree_init_by_function(struct calltree *tree, const struct profile *profile,
			       const uint32_t *key_of_state);
void calltree_done(struct calltree *tree);
/*
 * Stores the nodes from the root's child down to node in path, which has room for
 * calltree_depth() of them, and returns how many.
 */
size_t calltree_path(const struct calltree *tree, uint32_t node, uint32_t *path);
/* The length of the longest path. */
size_t calltree_depth(const struct calltree *tree);
