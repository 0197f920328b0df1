/*
 * boxes - where the boxes of a flame graph are: which nodes of a call tree are wide enough to be
 * seen, how deep each is, and from where to where it goes.
 *
 * Inside export/ only.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct calltree_node;

struct box {
	uint32_t node;
	uint32_t depth;     /* 0 for the root, which is as wide as all */
	double left, width; /* in the unit of the width that was given */
};

struct boxes {
	struct box *items; /* in pre-order */
	size_t count, capacity;
	uint32_t deepest;
};

/*
 * Lays nodes out (node 0 is the root, subtrees are runs as in calltree.h; parent, end and total_ns
 * are read) next to each other from the left, in their order.  A node narrower than narrowest is left
 * out with all that it called, so there are at most width / narrowest boxes of each depth.
 * boxes_done() releases.
 */
void boxes_lay_out(struct boxes *out, const struct calltree_node *nodes, size_t count,
		   double width, double narrowest);
void boxes_done(struct boxes *boxes);
