/*
 * boxes - computes the boxes of a flame graph: which nodes of a call tree are wide enough to be
 * seen, their depth and horizontal extent.
 *
 * Inside export/ only.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct calltree_node;

struct box {
	uint32_t node;
	uint32_t depth;     /* 0 for the root, which has the full width */
	double left, width; /* in the unit of the given width */
};

struct boxes {
	struct box *items; /* in pre-order */
	size_t count, capacity;
	uint32_t deepest;
};

/*
 * Lays out nodes next to each other from the left, in their order (node 0 is the root, subtrees
 * are contiguous as in calltree.h; reads parent, end and total_ns). A node narrower than
 * narrowest is left out with all its callees, so there are at most width / narrowest boxes per
 * depth. boxes_done() releases.
 */
void boxes_lay_out(struct boxes *out, const struct calltree_node *nodes, size_t count,
		   double width, double narrowest);
void boxes_done(struct boxes *boxes);
