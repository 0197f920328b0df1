/*
 * Builds the tree in three steps: nodes in the order of their first stack (callers before
 * callees, as a profile numbers its stacks so); then the order among siblings; then a
 * renumbering to pre-order, in which a node's number is its parent's plus the sizes of the
 * siblings before it. No step recurses, so stacks may have any depth.
 */
#include "export/calltree.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "export/meaning.h"
#include "profile/profile.h"

struct build {
	const struct profile *profile;
	const struct calltree_terms *terms;
	struct calltree_node *nodes; /* in order of arrival */
	size_t count, capacity;
	uint32_t *node_of_stack; /* by stack id; 0 for stacks without time */
	struct table index;      /* (parent node, key) to the node */
};

static bool weighs(const struct profile *profile, const struct weight *weight)
{
	return weight->ns > 0 || meaning_of_count(profile, weight) > 0;
}

/* A profile's stacks are numbered after their callers; one that is not counts as outermost. */
static uint32_t caller_of(const struct profile *profile, uint32_t stack)
{
	uint32_t parent = profile_get_stack(profile, (struct stack_id){ stack })->parent.n;

	return parent < stack ? parent : 0;
}

static uint32_t add_node(struct build *build, uint32_t parent, uint32_t key)
{
	build->nodes =
		array_grow(build->nodes, build->count, &build->capacity, sizeof *build->nodes);
	build->nodes[build->count] =
		(struct calltree_node){ .parent = parent, .key = key, .is_inlined = true };
	return (uint32_t)build->count++;
}

static uint32_t node_at(struct build *build, uint32_t parent, uint32_t key)
{
	bool is_new;
	uint64_t *node = table_at(&build->index, parent, key, &is_new);

	if (is_new)
		*node = add_node(build, parent, key);
	return (uint32_t)*node;
}

/* Marks stacks that have weight, and their callers, by 1 in node_of_stack. */
static void mark_stacks(struct build *build)
{
	size_t stacks = profile_stack_count(build->profile);

	for (size_t i = 0; i < profile_weight_count(build->profile); i++) {
		const struct weight *weight = profile_get_weight(build->profile, i);
		if (weighs(build->profile, weight))
			build->node_of_stack[weight->stack.n] = 1;
	}
	for (size_t stack = stacks; stack > 0; stack--)
		if (build->node_of_stack[stack])
			build->node_of_stack[caller_of(build->profile, (uint32_t)stack)] = 1;
	build->node_of_stack[0] = 0;
}

static void make_nodes(struct build *build)
{
	uint32_t root = add_node(build, 0, 0);
	build->nodes[root].is_inlined = false;
	for (uint32_t stack = 1; stack <= profile_stack_count(build->profile); stack++) {
		if (!build->node_of_stack[stack])
			continue;
		struct frame_id id =
			profile_get_stack(build->profile, (struct stack_id){ stack })->frame;
		uint32_t caller = build->node_of_stack[caller_of(build->profile, stack)];
		uint32_t node = node_at(build, caller, build->terms->key_of_frame[id.n]);
		if (!profile_get_frame(build->profile, id)->is_inlined)
			build->nodes[node].is_inlined = false;
		build->node_of_stack[stack] = node;
	}
}

/* The node of a weight: its stack's, or the leaf below that for its state. */
static uint32_t node_of(struct build *build, const struct weight *weight)
{
	const uint32_t node = build->node_of_stack[weight->stack.n];

	if (!build->terms->key_of_state || !weighs(build->profile, weight))
		return node;
	const uint32_t leaf = node_at(build, node, build->terms->key_of_state[weight->state]);

	build->nodes[leaf].is_inlined = false;
	return leaf;
}

static void add_weights(struct build *build)
{
	for (size_t i = 0; i < profile_weight_count(build->profile); i++) {
		const struct weight *weight = profile_get_weight(build->profile, i);
		const uint32_t place = node_of(build, weight);
		struct calltree_node *node = &build->nodes[place];

		node->self_ns += weight->ns;
		node->self_count += meaning_of_count(build->profile, weight);
	}
	for (size_t i = 0; i < build->count; i++) {
		build->nodes[i].total_ns = build->nodes[i].self_ns;
		build->nodes[i].total_count = build->nodes[i].self_count;
	}
	for (size_t i = build->count - 1; i > 0; i--) {
		struct calltree_node *parent = &build->nodes[build->nodes[i].parent];
		parent->total_ns += build->nodes[i].total_ns;
		parent->total_count += build->nodes[i].total_count;
	}
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_by_key(const void *a, const void *b, void *context)
{
	const struct calltree_node *nodes = context;
	const struct calltree_node *x = &nodes[*(const uint32_t *)a];
	const struct calltree_node *y = &nodes[*(const uint32_t *)b];
	int order = compare_u64(x->parent, y->parent);

	return order ? order : compare_u64(x->key, y->key);
}

static int compare_by_weight(const void *a, const void *b, void *context)
{
	const struct calltree_node *nodes = context;
	const struct calltree_node *x = &nodes[*(const uint32_t *)a];
	const struct calltree_node *y = &nodes[*(const uint32_t *)b];
	int order = compare_u64(x->parent, y->parent);

	if (order == 0)
		order = compare_u64(y->total_ns, x->total_ns);
	return order ? order : compare_u64(x->key, y->key);
}

/* All nodes but the root, parents before children, siblings contiguous and in order. */
static uint32_t *siblings_in_order(const struct build *build)
{
	uint32_t *sorted = xreallocarray(NULL, build->count, sizeof *sorted);

	for (uint32_t i = 0; i < build->count; i++)
		sorted[i] = i;
	qsort_r(sorted + 1, build->count - 1, sizeof *sorted,
		build->terms->order == CALLTREE_BY_KEY ? compare_by_key : compare_by_weight,
		build->nodes);
	return sorted;
}

/* Renumbers nodes to pre-order, also in rows and node_of_stack. */
static void renumber(struct build *build, struct calltree *tree)
{
	CLEANUP(freep) uint32_t *sorted = siblings_in_order(build);
	CLEANUP(freep) uint32_t *size = xreallocarray(NULL, build->count, sizeof *size);
	CLEANUP(freep) uint32_t *place = xreallocarray(NULL, build->count, sizeof *place);
	CLEANUP(freep) uint32_t *next = xreallocarray(NULL, build->count, sizeof *next);

	for (size_t i = 0; i < build->count; i++)
		size[i] = 1;
	for (size_t i = build->count - 1; i > 0; i--)
		size[build->nodes[i].parent] += size[i];
	place[0] = 0;
	next[0] = 1;
	for (size_t i = 1; i < build->count; i++) {
		uint32_t node = sorted[i], parent = build->nodes[node].parent;
		place[node] = next[parent];
		next[parent] += size[node];
		next[node] = place[node] + 1;
	}
	tree->nodes = xreallocarray(NULL, build->count, sizeof *tree->nodes);
	tree->node_count = build->count;
	for (size_t i = 0; i < build->count; i++) {
		struct calltree_node node = build->nodes[i];
		node.parent = place[node.parent];
		node.end = place[i] + size[i];
		tree->nodes[place[i]] = node;
	}
	for (size_t stack = 0; stack <= profile_stack_count(build->profile); stack++)
		build->node_of_stack[stack] = place[build->node_of_stack[stack]];
	for (size_t i = 0; i < tree->row_count; i++)
		tree->rows[i].node = place[tree->rows[i].node];
}

static int compare_rows(const void *a, const void *b)
{
	const struct calltree_row *x = a, *y = b;
	int order = compare_u64(x->thread, y->thread);

	if (order == 0)
		order = compare_u64(x->node, y->node);
	return order ? order : compare_u64(x->state, y->state);
}

static void merge_equal_rows(struct calltree *tree)
{
	size_t kept = 0;

	for (size_t i = 0; i < tree->row_count; i++) {
		const struct calltree_row row = tree->rows[i];
		if (kept > 0 && compare_rows(&tree->rows[kept - 1], &row) == 0) {
			tree->rows[kept - 1].ns += row.ns;
			tree->rows[kept - 1].count += row.count;
		} else {
			tree->rows[kept++] = row;
		}
	}
	tree->row_count = kept;
}

static void make_rows(struct build *build, struct calltree *tree)
{
	size_t count = profile_weight_count(build->profile);

	tree->rows = xreallocarray(NULL, count + 1, sizeof *tree->rows);
	tree->row_count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct weight *weight = profile_get_weight(build->profile, i);
		if (weighs(build->profile, weight))
			tree->rows[tree->row_count++] = (struct calltree_row){
				.thread = weight->thread.n,
				.node = node_of(build, weight),
				.state = weight->state,
				.ns = weight->ns,
				.count = meaning_of_count(build->profile, weight),
			};
	}
}

void calltree_init(struct calltree *tree, const struct profile *profile,
		   const struct calltree_terms *terms)
{
	struct build build = { .profile = profile, .terms = terms };

	build.node_of_stack = xreallocarray(NULL, profile_stack_count(profile) + 1,
					    sizeof *build.node_of_stack);
	memset(build.node_of_stack, 0,
	       (profile_stack_count(profile) + 1) * sizeof *build.node_of_stack);
	mark_stacks(&build);
	make_nodes(&build);
	add_weights(&build);
	make_rows(&build, tree);
	renumber(&build, tree);
	qsort(tree->rows, tree->row_count, sizeof *tree->rows, compare_rows);
	merge_equal_rows(tree);
	table_done(&build.index);
	free(build.nodes);
	tree->node_of_stack = build.node_of_stack;
}

void calltree_init_by_function(struct calltree *tree, const struct profile *profile,
			       const uint32_t *key_of_state)
{
	size_t frames = profile_frame_count(profile);
	CLEANUP(freep)
	uint32_t *function_of_frame =
		xreallocarray(NULL, frames + 1, sizeof *function_of_frame);

	function_of_frame[0] = 0;
	for (uint32_t i = 1; i <= frames; i++)
		function_of_frame[i] =
			profile_get_frame(profile, (struct frame_id){ i })->function.n;
	calltree_init(tree, profile,
		      &(struct calltree_terms){ .key_of_frame = function_of_frame,
						.key_of_state = key_of_state,
						.order = CALLTREE_BY_WEIGHT });
}

void calltree_done(struct calltree *tree)
{
	free(tree->nodes);
	free(tree->rows);
	free(tree->node_of_stack);
	*tree = (struct calltree){ 0 };
}

size_t calltree_path(const struct calltree *tree, uint32_t node, uint32_t *path)
{
	size_t depth = 0;

	for (uint32_t at = node; at != 0; at = tree->nodes[at].parent)
		depth++;
	for (size_t i = depth; i > 0; i--) {
		path[i - 1] = node;
		node = tree->nodes[node].parent;
	}
	return depth;
}

size_t calltree_depth(const struct calltree *tree)
{
	CLEANUP(freep) uint32_t *depth = xreallocarray(NULL, tree->node_count, sizeof *depth);
	size_t deepest = 0;

	depth[0] = 0;
	for (size_t i = 1; i < tree->node_count; i++) {
		depth[i] = depth[tree->nodes[i].parent] + 1;
		if (depth[i] > deepest)
			deepest = depth[i];
	}
	return deepest;
}
