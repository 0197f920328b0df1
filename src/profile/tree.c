#include "profile/tree.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "profile/filter.h"
#include "profile/sum.h"

/* A tree being built: the index maps (node, function) to the child. */
struct builder {
	struct tree *tree;
	struct table index;
};

static uint32_t add_node(struct tree *tree, uint32_t parent, struct function_id function)
{
	tree->nodes =
		array_grow(tree->nodes, tree->count, &tree->capacity, sizeof *tree->nodes);
	tree->nodes[tree->count] = (struct tree_node){
		.function = function,
		.parent = parent,
		.depth = tree->count > 0 ? tree->nodes[parent].depth + 1 : 0,
	};
	return (uint32_t)tree->count++;
}

static struct builder builder_of(struct tree *tree, bool is_saturated)
{
	*tree = (struct tree){ .is_saturated = is_saturated };
	add_node(tree, 0, (struct function_id){ 0 });
	return (struct builder){ .tree = tree };
}

static uint32_t child_of(struct builder *builder, uint32_t parent, struct function_id function)
{
	bool is_new;
	uint64_t *node = table_at(&builder->index, parent, function.n, &is_new);

	if (is_new)
		*node = add_node(builder->tree, parent, function);
	return (uint32_t)*node;
}

static void add_self(struct tree *tree, uint32_t node, uint64_t ns, uint64_t samples)
{
	sum_add(&tree->nodes[node].self_ns, ns, &tree->is_saturated);
	sum_add(&tree->nodes[node].self_samples, samples, &tree->is_saturated);
}

static void add_calls(struct tree *tree, uint32_t node, uint64_t calls)
{
	sum_add(&tree->nodes[node].self_calls, calls, &tree->is_saturated);
}

static void sum_totals(struct tree *tree)
{
	for (size_t i = tree->count; i-- > 0;) {
		struct tree_node *node = &tree->nodes[i];
		struct tree_node *parent = &tree->nodes[node->parent];
		sum_add(&node->total_ns, node->self_ns, &tree->is_saturated);
		sum_add(&node->total_samples, node->self_samples, &tree->is_saturated);
		sum_add(&node->total_calls, node->self_calls, &tree->is_saturated);
		if (i == 0)
			break;
		sum_add(&parent->total_ns, node->total_ns, &tree->is_saturated);
		sum_add(&parent->total_samples, node->total_samples, &tree->is_saturated);
		sum_add(&parent->total_calls, node->total_calls, &tree->is_saturated);
	}
}

/* Ascending, so that inserting each before its siblings leaves them descending. */
static int compare_totals(const void *a, const void *b, void *context)
{
	const struct tree_node *nodes = context;
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;

	if (nodes[x].total_ns != nodes[y].total_ns)
		return nodes[x].total_ns < nodes[y].total_ns ? -1 : 1;
	return x < y ? 1 : -1;
}

static void link_children(struct tree *tree)
{
	uint32_t *order = xreallocarray(NULL, tree->count, sizeof *order);

	for (uint32_t i = 0; i < tree->count; i++)
		order[i] = i;
	qsort_r(order, tree->count, sizeof *order, compare_totals, tree->nodes);
	for (size_t i = 0; i < tree->count; i++) {
		struct tree_node *node = &tree->nodes[order[i]];
		if (order[i] == 0)
			continue;
		node->next_sibling = tree->nodes[node->parent].first_child;
		tree->nodes[node->parent].first_child = order[i];
	}
	freep(&order);
}

static void builder_finish(struct builder *builder)
{
	table_done(&builder->index);
	sum_totals(builder->tree);
	link_children(builder->tree);
}

/* Each node is a row of its own. */
static void find_intervals(struct tree *tree, const struct profile *profile,
			   const struct filter *filter, const uint32_t *node_of_stack)
{
	CLEANUP(freep) uint32_t *parents = xzalloc(tree->count * sizeof *parents);
	CLEANUP(freep) struct intervals *found = xzalloc(tree->count * sizeof *found);

	if (profile_is_trace(profile))
		return;
	for (uint32_t i = 0; i < tree->count; i++)
		parents[i] = tree->nodes[i].parent;
	intervals_find(
		&(struct interval_terms){
			.profile = profile,
			.filter = filter,
			.place_of_stack = node_of_stack,
			.parents = parents,
			.place_count = tree->count,
			.row_count = tree->count,
		},
		found);
	for (size_t i = 1; i < tree->count; i++) {
		tree->nodes[i].intervals = found[i];
		tree->nodes[i].has_intervals = true;
	}
}

void tree_top_down(const struct profile *profile, const struct filter *filter,
		   struct tree *out_tree)
{
	struct builder builder = builder_of(out_tree, profile_is_saturated(profile));
	size_t stacks = profile_stack_count(profile);
	uint32_t *node_of_stack = xzalloc((stacks + 1) * sizeof *node_of_stack);

	for (uint32_t i = 1; i <= stacks; i++) {
		const struct stack *stack = profile_get_stack(profile, (struct stack_id){ i });
		const struct frame *frame = profile_get_frame(profile, stack->frame);
		node_of_stack[i] =
			child_of(&builder, node_of_stack[stack->parent.n], frame->function);
	}
	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);
		if (!filter_keeps(filter, weight))
			continue;
		add_self(out_tree, node_of_stack[weight->stack.n], weight->ns, weight->samples);
		add_calls(out_tree, node_of_stack[weight->stack.n], weight->calls);
	}
	builder_finish(&builder);
	find_intervals(out_tree, profile, filter, node_of_stack);
	freep(&node_of_stack);
}

/* Walks outwards from a call of the function, adding its callers as a path of the new tree. */
static uint32_t callers_path(struct builder *builder, const struct tree *top_down,
			     const struct tree_node *call)
{
	uint32_t at = 0;

	for (uint32_t i = call->parent; i != 0; i = top_down->nodes[i].parent)
		at = child_of(builder, at, top_down->nodes[i].function);
	return at;
}

void tree_callers(const struct tree *top_down, const bool *is_meant, struct tree *out_tree)
{
	struct builder builder = builder_of(out_tree, top_down->is_saturated);
	bool *is_inside = xzalloc(top_down->count * sizeof *is_inside);

	for (size_t i = 1; i < top_down->count; i++) {
		const struct tree_node *node = &top_down->nodes[i];
		bool is_outermost = is_meant[node->function.n] && !is_inside[node->parent];
		is_inside[i] = is_meant[node->function.n] || is_inside[node->parent];
		if (is_meant[node->function.n] && !is_outermost && node->self_calls > 0)
			add_calls(out_tree,
				  child_of(&builder, 0, top_down->nodes[node->parent].function),
				  node->self_calls);
		if (!is_outermost ||
		    (node->total_ns == 0 && node->total_samples == 0 && node->total_calls == 0))
			continue;
		const uint32_t callers = callers_path(&builder, top_down, node);

		add_self(out_tree, callers, node->total_ns, node->total_samples);
		add_calls(out_tree, callers, node->self_calls);
	}
	freep(&is_inside);
	builder_finish(&builder);
}

void tree_callees(const struct tree *top_down, const bool *is_meant, struct tree *out_tree)
{
	struct builder builder = builder_of(out_tree, top_down->is_saturated);
	/* By node of the old tree: its node in the new tree, and whether it has one. */
	uint32_t *node_of = xzalloc(top_down->count * sizeof *node_of);
	bool *is_inside = xzalloc(top_down->count * sizeof *is_inside);

	for (size_t i = 1; i < top_down->count; i++) {
		const struct tree_node *node = &top_down->nodes[i];
		is_inside[i] = is_meant[node->function.n] || is_inside[node->parent];
		if (!is_inside[i])
			continue;
		if (!is_meant[node->function.n])
			node_of[i] = child_of(&builder, node_of[node->parent], node->function);
		add_self(out_tree, node_of[i], node->self_ns, node->self_samples);
		add_calls(out_tree, node_of[i], node->self_calls);
	}
	freep(&node_of);
	freep(&is_inside);
	builder_finish(&builder);
}

void tree_done(struct tree *tree)
{
	freep(&tree->nodes);
	*tree = (struct tree){ 0 };
}
