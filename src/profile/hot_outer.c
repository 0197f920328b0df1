/*
 * Names nodes that run without own code (a framework's start, a test runner's collection,
 * another thread) by the innermost function with most of their time; where that function's time
 * is divided among callees with much each, these become nodes of their own.
 */
#include "profile/hot_paths_internal.h"

#include <string.h>

#include "base/memory.h"
#include "profile/filter.h"
#include "profile/sum.h"

enum {
	/* Per cent of all time: a node with less is left alone, */
	NODE_LEAST = 5,
	/* and a callee with so much becomes a node. */
	MUCH = 15,
	/* Per cent of a node's time that a function needs to name the node. */
	MOST = 60,
};

/* The stacks as a tree that can be walked inwards: links by stack, 0: none. */
struct descent {
	struct hot_builder *builder;
	uint32_t *first_child, *next_sibling;
	uint64_t *ns;           /* of a stack and those below it that have the same node */
	uint32_t *level, *next; /* stacks of the current function, and of its callees */
	size_t level_count, next_count;
	uint64_t much_ns; /* a callee with so much becomes a node */
	bool is_split;    /* one has become a node */
};

static void descent_init(struct descent *descent, struct hot_builder *builder)
{
	const size_t places = builder->stacks + 1;
	bool is_saturated = false;

	*descent = (struct descent){ .builder = builder,
				     .first_child = xzalloc(places * sizeof(uint32_t)),
				     .next_sibling = xzalloc(places * sizeof(uint32_t)),
				     .ns = xzalloc(places * sizeof(uint64_t)),
				     .level = xzalloc(places * sizeof(uint32_t)),
				     .next = xzalloc(places * sizeof(uint32_t)),
				     .much_ns = hot_percent_of(
					     builder->paths->nodes[0].total_ns, MUCH) };
	for (size_t i = 0; i < profile_weight_count(builder->profile); i++) {
		const struct weight *weight = profile_get_weight(builder->profile, i);

		if (filter_keeps(builder->filter, weight))
			sum_add(&descent->ns[weight->stack.n], weight->ns, &is_saturated);
	}
	for (uint32_t i = (uint32_t)builder->stacks; i > 0; i--) {
		const uint32_t caller = hot_caller_of(builder, i);

		descent->next_sibling[i] = descent->first_child[caller];
		descent->first_child[caller] = i;
		if (caller && builder->node_of[caller] == builder->node_of[i])
			sum_add(&descent->ns[caller], descent->ns[i], &is_saturated);
	}
}

static void descent_done(struct descent *descent)
{
	freep(&descent->first_child);
	freep(&descent->next_sibling);
	freep(&descent->ns);
	freep(&descent->level);
	freep(&descent->next);
}

/* Lists the outermost stacks that have the node. */
static void list_outermost(struct descent *descent, uint32_t node)
{
	const struct hot_builder *builder = descent->builder;

	descent->next_count = 0;
	for (uint32_t i = 1; i <= builder->stacks; i++) {
		const uint32_t caller = hot_caller_of(builder, i);

		if (builder->node_of[i] == node &&
		    (!caller || builder->node_of[caller] != node))
			descent->next[descent->next_count++] = i;
	}
}

/* Lists the stacks that the level's stacks call and that have the same node. */
static void list_callees(struct descent *descent, uint32_t node)
{
	descent->next_count = 0;
	for (size_t k = 0; k < descent->level_count; k++)
		for (uint32_t i = descent->first_child[descent->level[k]]; i;
		     i = descent->next_sibling[i])
			if (descent->builder->node_of[i] == node)
				descent->next[descent->next_count++] = i;
}

/* Sums the time of the next stacks by function. */
static struct table sum_next(const struct descent *descent)
{
	struct table ns_of = { 0 };
	bool is_saturated = false;

	for (size_t k = 0; k < descent->next_count; k++) {
		const uint32_t stack = descent->next[k];

		sum_add(table_at(&ns_of, 0, hot_function_of(descent->builder, stack).n, NULL),
			descent->ns[stack], &is_saturated);
	}
	return ns_of;
}

/* Moves the stack, and those below it that have the same node, to another node. */
static void move_below(struct descent *descent, uint32_t top, uint32_t to)
{
	uint32_t *node_of = descent->builder->node_of;
	const uint32_t from = node_of[top];
	uint32_t at = top;

	node_of[top] = to;
	for (;;) {
		uint32_t next = descent->first_child[at];

		while (next && node_of[next] != from)
			next = descent->next_sibling[next];
		if (next) {
			at = next;
			node_of[at] = to;
		} else if (at == top) {
			return;
		} else {
			at = hot_caller_of(descent->builder, at);
		}
	}
}

/* Which of the next functions has at least enough_ns; 0: none. */
static uint32_t find_most(const struct table *ns_of, uint64_t enough_ns)
{
	uint64_t hi, function, ns;
	size_t cursor = 0;

	while (table_next(ns_of, &cursor, &hi, &function, &ns))
		if (ns >= enough_ns)
			return (uint32_t)function;
	return 0;
}

/* Continues inwards to the function; others with much of all time become nodes of their own. */
static void step_down(struct descent *descent, uint32_t node, uint32_t to, struct table *ns_of)
{
	struct hot_builder *builder = descent->builder;

	descent->level_count = 0;
	for (size_t k = 0; k < descent->next_count; k++) {
		const uint32_t stack = descent->next[k];
		const struct function_id function = hot_function_of(builder, stack);

		if (function.n == to) {
			descent->level[descent->level_count++] = stack;
		} else if (*table_at(ns_of, 0, function.n, NULL) >= descent->much_ns) {
			const uint32_t other = hot_child(builder, 0, HOT_LIBRARY, function);

			descent->is_split = descent->is_split || other != node;
			if (other != node)
				move_below(descent, stack, other);
		}
	}
}

/*
 * The innermost function with most of the node's time, after callees with much of it became
 * nodes of their own. A function that is on the stack already, like a dispatcher of hooks, does
 * not become the name.
 */
static struct function_id name_of(struct descent *descent, uint32_t node, uint64_t ns)
{
	const struct hot_builder *builder = descent->builder;
	struct function_id name = builder->paths->nodes[node].function;
	struct table seen = { 0 };
	uint32_t to = 0;

	for (uint32_t i = hot_caller_of(builder, descent->next[0]); i;
	     i = hot_caller_of(builder, i))
		table_at(&seen, 0, hot_function_of(builder, i).n, NULL);
	do {
		struct table ns_of = sum_next(descent);
		bool is_new = false;

		to = find_most(&ns_of, hot_percent_of(ns, MOST));
		step_down(descent, node, to, &ns_of);
		table_done(&ns_of);
		if (to)
			table_at(&seen, 0, to, &is_new);
		if (is_new)
			name.n = to;
		list_callees(descent, node);
	} while (to);
	table_done(&seen);
	return name;
}

bool hot_split_outer(struct hot_builder *builder)
{
	struct hot_paths *paths = builder->paths;
	const uint64_t least_ns = hot_percent_of(paths->nodes[0].total_ns, NODE_LEAST);
	struct descent descent;

	descent_init(&descent, builder);
	/* Nodes made by this are split in turn. */
	for (uint32_t i = 1; i < paths->count; i++) {
		uint64_t ns = 0;

		if (paths->nodes[i].parent != 0 || paths->nodes[i].kind != HOT_LIBRARY ||
		    paths->nodes[i].wait.n)
			continue;
		list_outermost(&descent, i);
		for (size_t k = 0; k < descent.next_count; k++)
			ns += descent.ns[descent.next[k]];
		if (ns == 0 || ns < least_ns)
			continue;
		const struct function_id name = name_of(&descent, i, ns);

		paths->nodes[i].function = name;
	}
	descent_done(&descent);
	return descent.is_split;
}
