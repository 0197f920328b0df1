#include "report/hot.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/group.h"
#include "profile/profile.h"
#include "profile/sum.h"
#include "report/grid.h"
#include "report/hot_internal.h"
#include "report/number.h"
#include "report/places.h"
#include "report/selection.h"

#define PLACE_TITLE "file:line"

enum {
	/* Per mille of all time: a node with less gets no row. */
	ROW_LEAST = 15,
	/* Per cent: likewise for nodes that run without own code. */
	OUTER_LEAST = 5,
	/* Per cent of a function's total: its callee shares its row if it has so much ... */
	JOINED_TOTAL = 90,
	/* ... and if the caller's self time is below this per cent of all time. */
	JOINED_SELF = 2,
};

/*
 * A row's time: an own function's total; of a library, its self time, without own code it
 * calls.
 */
static uint64_t weight_of(const struct hot_node *node)
{
	return hot_kind_is_own(node->kind) ? node->total_ns : node->self_ns;
}

static bool is_library(const struct hot_node *node)
{
	return !hot_kind_is_own(node->kind);
}

/* Without waits for child processes: where that time went, their own rows show. */
static uint64_t weight_without_children(const struct hot_node *node)
{
	return hot_kind_is_own(node->kind) ? node->total_ns - node->total_child_ns
					   : node->self_ns - node->self_child_ns;
}

/* Whether the node can be a row of the outermost level. */
static bool is_outer(const struct hot *hot, const struct hot_node *node)
{
	if (hot_kind_is_own(node->kind))
		return true;
	return node->kind == HOT_LIBRARY && node->parent == 0 &&
	       (!node->function.n || hot_function(hot, node)->language != LANGUAGE_FATHOM ||
		hot_label_is_queue(hot, node)) &&
	       hot_has_percent(node->self_ns, hot->selection->ns, OUTER_LEAST);
}

/* Whether a node's only heavy own callee can share its row. */
static bool is_joined(const struct hot *hot, uint32_t above, uint32_t node)
{
	const struct hot_node *caller = &hot->paths.nodes[above];
	const struct hot_node *callee = &hot->paths.nodes[node];

	return above && callee->kind == HOT_OWN && caller->kind == HOT_OWN &&
	       hot_has_percent(callee->total_ns, caller->total_ns, JOINED_TOTAL) &&
	       !hot_has_percent(caller->self_ns, hot->selection->ns, JOINED_SELF);
}

/* The heaviest node that is not shown yet and has a shown parent; 0: none deserves a row. */
static uint32_t next_to_show(const struct hot *hot)
{
	const struct hot_paths *paths = &hot->paths;
	uint64_t most = hot->selection->ns / 1000 * ROW_LEAST;
	uint32_t found = 0;

	for (uint32_t i = 1; i < paths->count; i++) {
		const struct hot_node *node = &paths->nodes[i];

		if (hot->is_shown[i] || weight_of(node) <= most)
			continue;
		const uint32_t above = hot_paths_own_above(paths, i);

		if (above ? !hot->is_shown[above] : !is_outer(hot, node))
			continue;
		most = weight_of(node);
		found = i;
	}
	return found;
}

static size_t choose(struct hot *hot, size_t max_rows)
{
	size_t rows = 0;

	while (rows < max_rows) {
		const uint32_t node = next_to_show(hot);

		if (!node)
			break;
		hot->is_shown[node] = true;
		rows += !is_joined(hot, hot_paths_own_above(&hot->paths, node), node);
	}
	return rows;
}

/* The number of rows directly below the function's, and the last of them. */
static size_t count_rows(const struct hot *hot, uint32_t under, uint32_t *out_last)
{
	const struct hot_node *nodes = hot->paths.nodes;
	size_t count = 0;

	for (uint32_t i = nodes[under].first_child; i; i = nodes[i].next_sibling) {
		if (hot->is_shown[i]) {
			*out_last = i;
			count++;
		}
		if (is_library(&nodes[i]))
			count += count_rows(hot, i, out_last);
	}
	return count;
}

/* The callee that shares the node's row, or 0. */
static uint32_t joined_below(const struct hot *hot, uint32_t node)
{
	uint32_t only = 0;

	return count_rows(hot, node, &only) == 1 && is_joined(hot, node, only) ? only : 0;
}

/* Adds "main → run → handle", within `columns` if possible; returns the innermost node. */
static uint32_t add_chain(struct text *out, const struct hot *hot, uint32_t node,
			  size_t columns)
{
	CLEANUP(freep) struct text *names = NULL;
	size_t count = 0, capacity = 0;

	for (uint32_t next = node, caller = 0; next; next = joined_below(hot, next)) {
		const char *rest = caller ? hot_label_behind_caller(hot, next, caller) : NULL;

		node = caller = next;
		/* Such a name is meaningless without the one before it. */
		if (rest) {
			text_addf(&names[count - 1], " → %s", rest);
			continue;
		}
		names = array_grow(names, count, &capacity, sizeof *names);
		names[count] = (struct text){ 0 };
		hot_label_add_own(&names[count++], hot, next, columns);
	}
	hot_label_join(out, names, count, columns);
	return node;
}

static struct group group_of(const struct hot *hot, const struct hot_node *node)
{
	const struct function *function = hot_function(hot, node);

	return (struct group){ .name = (char *)function->name,
			       .file = function->file,
			       .line = function->line };
}

static void place_of(struct text *out, const struct hot *hot, const struct hot_node *node)
{
	if (!hot_kind_is_own(node->kind))
		return;
	const struct function *function = hot_function(hot, node);
	const struct group row = group_of(hot, node);

	if (node->kind == HOT_OWN)
		places_add(out, &row, hot->components[node - hot->paths.nodes]);
	else
		places_add_common(out, function->file, node->common);
}

/* Shows as many path components as distinguish the rows' files. */
static void find_components(struct hot *hot)
{
	CLEANUP(freep) struct group *rows = xreallocarray(NULL, hot->paths.count, sizeof *rows);
	CLEANUP(freep) uint32_t *nodes = xreallocarray(NULL, hot->paths.count, sizeof *nodes);
	size_t count = 0;

	for (uint32_t i = 1; i < hot->paths.count; i++) {
		if (!hot->is_shown[i] || hot->paths.nodes[i].kind != HOT_OWN)
			continue;
		rows[count] = group_of(hot, &hot->paths.nodes[i]);
		nodes[count++] = i;
	}
	CLEANUP(freep) unsigned int *components = places_components(rows, count);

	for (size_t i = 0; i < count; i++)
		hot->components[nodes[i]] = components[i];
}

/* Measures the places first: labels get the space that they leave. 0: no row has a place. */
static void measure_places(struct hot *hot)
{
	for (uint32_t i = 1; i < hot->paths.count; i++) {
		CLEANUP(text_done) struct text place = { 0 };

		if (hot->is_shown[i])
			place_of(&place, hot, &hot->paths.nodes[i]);
		if (text_columns(text_string(&place)) > hot->place_columns)
			hot->place_columns = text_columns(text_string(&place));
	}
}

static void add_place(struct hot *hot, const struct hot_node *node)
{
	CLEANUP(text_done) struct text place = { 0 };

	place_of(&place, hot, node);
	if (hot->place_columns == 0)
		return;
	if (place.len > 0)
		grid_add_name(&hot->grid, TINT_DIM, text_string(&place));
	else
		grid_addf(&hot->grid, TINT_DIM, "%s", "");
}

static void add_label(struct hot *hot, const struct text *label, unsigned int level,
		      enum tint tint)
{
	CLEANUP(text_done) struct text cell = { 0 };

	text_addf(&cell, "%*s%s", (int)level * HOT_INDENT, "", text_string(label));
	grid_add_name(&hot->grid, tint, text_string(&cell));
}

static void add_row(struct hot *hot, uint32_t *node, unsigned int level)
{
	const struct hot_node *nodes = hot->paths.nodes;
	const uint64_t ns = hot->selection->ns;
	const uint64_t weight_ns = weight_of(&nodes[*node]);
	const bool is_own = hot_kind_is_own(nodes[*node].kind);
	const struct interval *interval =
		is_own ? &nodes[*node].intervals.total : &nodes[*node].intervals.self;
	CLEANUP(text_done) struct text label = { 0 };

	if (nodes[*node].kind == HOT_OWN)
		*node = add_chain(&label, hot, *node, hot_label_chain_columns(hot, level));
	else if (nodes[*node].kind == HOT_GROUP)
		hot_label_add_group(&label, &nodes[*node]);
	else
		hot_label_add_library(&label, hot, &nodes[*node],
				      hot_label_columns(hot, level));
	grid_add_share(&hot->grid, weight_ns, ns, interval);
	grid_add_half_width(&hot->grid, weight_ns, ns, interval);
	if (is_own)
		grid_add_share(&hot->grid, nodes[*node].self_ns, ns,
			       &nodes[*node].intervals.self);
	else
		grid_addf(&hot->grid, TINT_NONE, "%s", "");
	add_label(hot, &label, level, is_own ? TINT_BOLD : TINT_NONE);
	add_place(hot, &nodes[*node]);
}

/* Lists the rows directly below the function's, at most count_rows(), in no order. */
static size_t list_rows(const struct hot *hot, uint32_t under, uint32_t *rows)
{
	const struct hot_node *nodes = hot->paths.nodes;
	size_t count = 0;

	for (uint32_t i = nodes[under].first_child; i; i = nodes[i].next_sibling) {
		if (hot->is_shown[i])
			rows[count++] = i;
		if (is_library(&nodes[i]))
			count += list_rows(hot, i, rows + count);
	}
	return count;
}

static int compare_weights(const void *a, const void *b, void *context)
{
	const struct hot_node *nodes = context;
	const uint32_t x = *(const uint32_t *)a;
	const uint32_t y = *(const uint32_t *)b;

	if (weight_of(&nodes[x]) != weight_of(&nodes[y]))
		return weight_of(&nodes[x]) > weight_of(&nodes[y]) ? -1 : 1;
	return x < y ? -1 : 1;
}

/* Puts waits without own code last: a pool's threads wait for work most of their lives. */
static int compare_outer(const void *a, const void *b, void *context)
{
	const struct hot_node *nodes = context;
	const struct hot_node *x = &nodes[*(const uint32_t *)a];
	const struct hot_node *y = &nodes[*(const uint32_t *)b];
	const uint64_t x_ns = weight_without_children(x), y_ns = weight_without_children(y);

	if ((x->wait.n != 0) != (y->wait.n != 0))
		return x->wait.n != 0 ? 1 : -1;
	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	return compare_weights(a, b, context);
}

static void add_rows(struct hot *hot, uint32_t under, unsigned int level)
{
	uint32_t last;
	const size_t count = count_rows(hot, under, &last);
	CLEANUP(freep) uint32_t *rows = xreallocarray(NULL, count + 1, sizeof *rows);

	list_rows(hot, under, rows);
	qsort_r(rows, count, sizeof *rows, under == 0 ? compare_outer : compare_weights,
		hot->paths.nodes);
	for (size_t i = 0; i < count; i++) {
		uint32_t innermost = rows[i];

		add_row(hot, &innermost, level);
		if (!is_library(&hot->paths.nodes[innermost]))
			add_rows(hot, innermost, level + 1);
	}
}

void hot_add(const struct selection *selection, const struct packages *packages,
	     size_t max_rows, const struct style *style, struct text *out)
{
	struct hot hot = { .selection = selection, .packages = packages, .style = style };
	CLEANUP(text_done) struct text title = { 0 };

	hot_title_add(&title, &hot);

	const struct grid_column columns[] = {
		{ "total %", COLUMN_RIGHT, 0 },
		{ "±", COLUMN_RIGHT | COLUMN_INTERVAL, 0 },
		{ "self %", COLUMN_RIGHT, 0 },
		{ text_string(&title), COLUMN_LABEL, 20 },
		{ PLACE_TITLE, COLUMN_FIRST_OUT, 10 },
	};

	hot_paths_make(selection->profile, packages, selection->filter, &hot.paths);
	hot.is_shown = xzalloc(hot.paths.count * sizeof *hot.is_shown);
	hot.components = xzalloc(hot.paths.count * sizeof *hot.components);
	grid_init(&hot.grid, columns, sizeof columns / sizeof *columns);
	if (choose(&hot, max_rows) > 0) {
		find_components(&hot);
		measure_places(&hot);
		if (hot.place_columns == 0)
			hot.grid.column_count--;
		add_rows(&hot, 0, 0);
		grid_write(&hot.grid, style, out);
		text_add(out, "\n");
	}
	grid_done(&hot.grid);
	freep(&hot.is_shown);
	freep(&hot.components);
	hot_paths_done(&hot.paths);
}
