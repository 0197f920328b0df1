#include "export/boxes.h"

#include <stdlib.h>

#include "base/memory.h"
#include "export/calltree.h"

static void add(struct boxes *boxes, struct box box)
{
	boxes->items =
		array_grow(boxes->items, boxes->count, &boxes->capacity, sizeof *boxes->items);
	boxes->items[boxes->count++] = box;
	if (box.depth > boxes->deepest)
		boxes->deepest = box.depth;
}

void boxes_lay_out(struct boxes *out, const struct calltree_node *nodes, size_t count,
		   double width, double narrowest)
{
	/* By node already laid out: its depth, and where its next callee begins. */
	CLEANUP(freep) uint32_t *depth = xreallocarray(NULL, count, sizeof *depth);
	CLEANUP(freep) uint64_t *next = xreallocarray(NULL, count, sizeof *next);
	const double scale = nodes[0].total_ns > 0 ? width / (double)nodes[0].total_ns : 0;

	*out = (struct boxes){ 0 };
	depth[0] = 0;
	next[0] = 0;
	add(out, (struct box){ .width = width });
	for (uint32_t i = 1; i < count;) {
		const uint32_t parent = nodes[i].parent;
		const uint64_t left = next[parent];

		next[parent] += nodes[i].total_ns;
		if ((double)nodes[i].total_ns * scale < narrowest) {
			i = nodes[i].end;
			continue;
		}
		next[i] = left;
		depth[i] = depth[parent] + 1;
		add(out, (struct box){ .node = i,
				       .depth = depth[i],
				       .left = (double)left * scale,
				       .width = (double)nodes[i].total_ns * scale });
		i++;
	}
}

void boxes_done(struct boxes *boxes)
{
	free(boxes->items);
	*boxes = (struct boxes){ 0 };
}
