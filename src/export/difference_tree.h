/*
 * difference_tree - merges the stacks of two sets of profiles into one tree, with the time of
 * each side.
 *
 * Inside export/ only.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "export/difference_terms.h"

struct calltree_node;
struct text;

/*
 * Times are means over a side's runs, in ns. Node 0 is the root; parents come before children.
 */
struct difference_node {
	uint32_t parent;
	uint32_t function; /* string id in names */
	double self_ns[2], total_ns[2];
};

struct difference_tree {
	struct difference_node *nodes;
	size_t count, capacity;
	struct intern keys;  /* "parent\nfunction's key" */
	struct intern names; /* function keys: "name\nfile" */
	double most_ns;      /* the largest change of a node's self time, up or down */
};

/* Release with difference_tree_done(). */
void difference_tree_init(struct difference_tree *tree, const struct difference_terms *terms);
void difference_tree_done(struct difference_tree *tree);
/*
 * Adds a function's key: its name, and the last component of its module's or its file's path.
 */
void difference_add_key(struct text *out, const char *name, const char *file,
			const char *module);
/*
 * The nodes in pre-order with the time of that side, the heaviest sibling first; *out_of has
 * the tree's node of each. The caller frees both.
 */
struct calltree_node *difference_tree_order(const struct difference_tree *tree,
					    enum difference_side side, uint32_t **out_of);
