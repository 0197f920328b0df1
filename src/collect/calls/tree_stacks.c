#include "collect/calls/tree_stacks.h"

#include <string.h>

#include "base/memory.h"
#include "collect/stacks/codes.h"
#include "collect/processes/image.h"
#include "collect/processes/known_calls.h"
#include "collect/processes/mappings.h"
#include "collect/samples/pump.h"
#include "record/writer.h"

/* Deeper than any path that an agent makes. */
#define MOST_DEEP (1U << 17)

static uint32_t parent_of(const struct known_calls *tree, uint32_t node)
{
	return __atomic_load_n(&tree->area->nodes[node].parent, __ATOMIC_RELAXED);
}

static uint16_t depth_of(const struct known_calls *tree, uint32_t node)
{
	return __atomic_load_n(&tree->area->nodes[node].depth, __ATOMIC_RELAXED);
}

/*
 * Collects a node and its callers, innermost first, up to one that has its stack.  False if one
 * of them has no name in this reading: each name is looked up once per reading.  A caller's
 * depth is less, or TRACE_DEEPEST; otherwise it is no tree, and the path ends there.
 */
static bool path_of(struct known_calls *tree, uint32_t node, uint64_t key, size_t *out_count)
{
	bool has_names = true;
	size_t count = 0;

	while (node != 0 && node < CALL_TREE_NODES && count < MOST_DEEP) {
		const struct known_node *known = known_calls_node(tree, node);

		has_names = known->missed_in != tree->reading;
		if (known->has_stack || !has_names)
			break;
		const uint32_t outer = parent_of(tree, node);
		const uint16_t depth = depth_of(tree, node);

		if (count == tree->path_capacity)
			tree->path = array_grow(tree->path, count, &tree->path_capacity,
						sizeof *tree->path);
		tree->path[count++] =
			(struct known_step){ node, outer < CALL_TREE_NODES ? outer : 0, key };
		if (key == TRACE_OUTSIDE || outer >= CALL_TREE_NODES ||
		    (depth_of(tree, outer) >= depth && depth != TRACE_DEEPEST))
			break;
		node = outer;
		key = known_calls_key(tree, node);
	}
	*out_count = count;
	return has_names;
}

static bool give_up(struct known_calls *tree, size_t count)
{
	while (count-- > 0)
		known_calls_node(tree, tree->path[count].node)->missed_in = tree->reading;
	return false;
}

/* A time at which the node's address has the same meaning as when it was called. */
static uint64_t time_of(const struct known_calls *tree, uint32_t node)
{
	const uint64_t identity =
		__atomic_load_n(&tree->area->nodes[node].identity, __ATOMIC_RELAXED);
	const uint64_t then_ns = identity & ~TRACE_UNLOADED;

	return identity & TRACE_UNLOADED && then_ns < tree->now_ns ? then_ns : tree->now_ns;
}

static uint32_t stack_in(struct pump *pump, struct image *image, uint32_t parent, uint64_t key,
			 uint64_t when_ns)
{
	struct recording_stack stack = { .parent = parent };
	struct recording_frame frame;
	uint32_t row = 0;

	/* Compiled code has addresses: only interpreters' functions lack a key. */
	if (key & RING_INTERPRETED || key == 0)
		codes_place(&pump->rows.codes, &pump->rows.epochs, image,
			    pump->rows.epochs.number,
			    key | RING_INTERPRETED | RING_NO_INSTRUCTION, &frame);
	else
		frame = stack_rows_place(&pump->rows, image, key,
					 mappings_era(image->mappings, when_ns));
	recording_writer_add_frame(pump->writer, &frame, &stack.frame);
	recording_writer_add_stack(pump->writer, &stack, &row);
	return row;
}

/*
 * Whether a key can be named now; key 0: the ring was full when the name should have been sent.
 */
static bool has_name(const struct image *image, const struct pump *pump, uint64_t key,
		     uint64_t when_ns)
{
	if (key == 0)
		return false;
	if (key & RING_INTERPRETED)
		return codes_has(&pump->rows.epochs, image->row, key);
	return mappings_find(image->mappings, key, mappings_era(image->mappings, when_ns)) !=
	       NULL;
}

bool call_tree_find_stack(struct image *image, struct pump *pump, uint32_t node,
			  uint64_t node_key, bool is_last)
{
	struct known_calls *tree = image->calls;
	uint32_t parent = 0;
	size_t count;

	if (!path_of(tree, node, node_key, &count) && !is_last)
		return give_up(tree, count);
	if (count == 0)
		return true;
	if (tree->path[count - 1].key != TRACE_OUTSIDE)
		parent = known_calls_node(tree, tree->path[count - 1].outer)->stack;
	while (count-- > 0) {
		const struct known_step *step = &tree->path[count];
		struct known_node *known = known_calls_node(tree, step->node);

		if (step->key != TRACE_OUTSIDE) {
			const uint64_t when_ns = time_of(tree, step->node);

			if (!has_name(image, pump, step->key, when_ns)) {
				if (!is_last)
					return give_up(tree, count + 1);
				tree->nameless +=
					step->key == 0 || step->key & RING_INTERPRETED;
			}
			parent = stack_in(pump, image, parent, step->key, when_ns);
		}
		known->stack = parent;
		known->has_stack = true;
	}
	return true;
}
