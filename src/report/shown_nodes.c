#include "report/shown_nodes.h"

#include <stdlib.h>

#include "base/memory.h"
#include "profile/tree.h"
#include "report/number.h"
#include "report/report_options.h"

static const double MIN_PERCENT_DEFAULT = 0.5;
/* Of the whole: less is not visible in a percentage of one decimal. */
static const double INVISIBLE_PERCENT = 0.05;

enum {
	ROWS_DEFAULT = 60,
};

double shown_nodes_least_percent(const struct report_options *options)
{
	return options->has_min_percent ? options->min_percent : MIN_PERCENT_DEFAULT;
}

size_t shown_nodes_limit(const struct report_options *options)
{
	return options->max_rows ? options->max_rows : ROWS_DEFAULT;
}

static bool is_heavier(const struct tree_node *nodes, uint32_t a, uint32_t b)
{
	if (nodes[a].total_ns != nodes[b].total_ns)
		return nodes[a].total_ns > nodes[b].total_ns;
	return a < b;
}

static int compare_heavier(const void *a, const void *b, void *context)
{
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;

	if (x == y)
		return 0;
	return is_heavier(context, x, y) ? -1 : 1;
}

/* Whether its caller passes all its time to it: both then share one line. */
static bool folds_with_parent(const struct shown_nodes *shown, uint32_t node)
{
	uint32_t parent = shown->tree->nodes[node].parent;
	uint64_t kept = shown->tree->nodes[parent].total_ns - shown->tree->nodes[node].total_ns;

	return parent != 0 && number_percent(kept, shown->ns) < INVISIBLE_PERCENT;
}

/* A recursive caller of the function has calls, but no time of its own. */
static bool is_recursion(const struct shown_nodes *shown, const struct tree_node *node)
{
	return shown->is_of_callers && node->parent == 0 && node->total_ns == 0 &&
	       node->total_calls > 0;
}

size_t shown_nodes_choose(struct shown_nodes *shown, const struct report_options *options)
{
	const struct tree *tree = shown->tree;
	double least = shown_nodes_least_percent(options);
	size_t limit = shown_nodes_limit(options);
	CLEANUP(freep) uint32_t *order = xreallocarray(NULL, tree->count, sizeof *order);
	size_t count = 0;
	size_t all = 0;
	size_t chosen = 0;

	for (uint32_t i = 1; i < tree->count; i++) {
		uint64_t ns = tree->nodes[i].total_ns;
		const bool has_only_calls = is_recursion(shown, &tree->nodes[i]);

		all += ns > 0 || has_only_calls;
		if (has_only_calls || (ns > 0 && number_percent(ns, shown->ns) >= least))
			order[count++] = i;
	}
	qsort_r(order, count, sizeof *order, compare_heavier, tree->nodes);
	for (size_t lines = 0; chosen < count; chosen++) {
		lines += !folds_with_parent(shown, order[chosen]);
		if (lines > limit)
			break;
		shown->is_shown[order[chosen]] = true;
	}
	return all - chosen;
}

uint32_t shown_nodes_child(const struct shown_nodes *shown, uint32_t node)
{
	uint32_t child = shown->tree->nodes[node].first_child;

	return shown->is_shown[child] ? child : 0;
}

uint32_t shown_nodes_sibling(const struct shown_nodes *shown, uint32_t node)
{
	uint32_t sibling = shown->tree->nodes[node].next_sibling;

	return shown->is_shown[sibling] ? sibling : 0;
}

uint32_t shown_nodes_only_child(const struct shown_nodes *shown, uint32_t node)
{
	uint32_t child = shown_nodes_child(shown, node);

	if (!child || shown_nodes_sibling(shown, child))
		return 0;
	uint64_t kept = shown->tree->nodes[node].total_ns - shown->tree->nodes[child].total_ns;
	return number_percent(kept, shown->ns) < INVISIBLE_PERCENT ? child : 0;
}
