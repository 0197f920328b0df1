#include "report/branches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/find.h"
#include "profile/profile.h"
#include "profile/tree.h"
#include "report/number.h"
#include "report/report_options.h"
#include "report/selection.h"
#include "report/shown_nodes.h"
#include "report/style.h"

enum {
	INDENT = 2,
	CALLS_COLUMNS = 10,
	INDENT_MAX = 60,   /* deeper calls are not indented further */
	NAME_COLUMNS = 20, /* left for a name at least, however deep */
	CALLS_WIDTH = 72,  /* below this width there is no column of calls */
};

/* One tree to be written as text. */
struct branches {
	const struct profile *profile;
	const struct tree *tree;
	const struct style *style;
	struct text *out;
	const struct time_unit *unit;
	uint64_t ns; /* that percentages refer to */
	bool has_self;
	bool has_calls; /* of a trace */
	struct shown_nodes shown;
	unsigned int call_column;
};

static void add_percent(const struct branches *branches, uint64_t ns, int columns)
{
	char number[32];
	double percent = number_percent(ns, branches->ns);

	snprintf(number, sizeof number, "%*.1f", columns, percent);
	style_add(branches->out, branches->style, style_tint_of(percent), number);
	text_add(branches->out, "  ");
}

static void add_numbers(const struct branches *branches, const struct tree_node *first,
			const struct tree_node *last)
{
	struct text time = { 0 };

	add_percent(branches, first->total_ns, 7);
	if (branches->has_self)
		add_percent(branches, last->self_ns, 6);
	number_add_time(&time, branches->unit, first->total_ns);
	size_t columns = text_columns(text_string(&time));
	text_addf(branches->out, "%*s%s  ", columns < 10 ? (int)(10 - columns) : 0, "",
		  text_string(&time));
	text_done(&time);
	if (!branches->has_calls)
		return;
	struct text calls = { 0 };

	number_add_count(&calls,
			 branches->shown.is_of_callers ? first->total_calls : last->self_calls);
	text_addf(branches->out, "%*s  ", CALLS_COLUMNS, text_string(&calls));
	text_done(&calls);
}

/*
 * Adds the chain's next name, on a line of its own if it does not fit; returns the column
 * reached.
 */
static size_t add_name(const struct branches *branches, const char *name, size_t indent,
		       size_t at)
{
	static const char arrow[] = " → ";
	size_t width = style_wrap_width(branches->style);
	struct text printable = { 0 };
	struct text cut = { 0 };
	bool is_first = at == indent;

	text_add_printable(&printable, name, strlen(name));
	if (branches->style->width > 0)
		style_add_cut_name(&cut, text_string(&printable),
				   width > indent + 10 ? width - indent - 2 : 8);
	else
		text_add(&cut, text_string(&printable));
	size_t columns = text_columns(text_string(&cut));
	if (!is_first && at + 3 + columns > width) {
		text_addf(branches->out, "\n%*s→ ", (int)indent, "");
		at = indent + 2;
	} else if (!is_first) {
		text_add(branches->out, arrow);
		at += 3;
	}
	text_add(branches->out, text_string(&cut));
	text_done(&printable);
	text_done(&cut);
	return at + columns;
}

static const char *name_of(const struct branches *branches, uint32_t node)
{
	return profile_get_function(branches->profile, branches->tree->nodes[node].function)
		->name;
}

static size_t deepest_indent(const struct branches *branches)
{
	const size_t taken = branches->call_column + NAME_COLUMNS;
	const size_t width = branches->style->width;

	if (width == 0 || width >= taken + INDENT_MAX)
		return INDENT_MAX;
	return width > taken ? width - taken : 0;
}

/* Writes the node and the callees that share its line; returns the last node of the line. */
static uint32_t add_line(const struct branches *branches, uint32_t node, unsigned int level)
{
	size_t indent = level * INDENT;
	uint32_t last = node;

	if (indent > deepest_indent(branches))
		indent = deepest_indent(branches);
	for (uint32_t next = last; next; next = shown_nodes_only_child(&branches->shown, next))
		last = next;
	add_numbers(branches, &branches->tree->nodes[node], &branches->tree->nodes[last]);
	text_addf(branches->out, "%*s", (int)indent, "");
	indent += branches->call_column;

	size_t at = indent;
	for (uint32_t i = node;; i = shown_nodes_only_child(&branches->shown, i)) {
		at = add_name(branches, name_of(branches, i), indent, at);
		if (i == last)
			break;
	}
	text_add(branches->out, "\n");
	return last;
}

/* Depth first, without recursion: stacks in recordings of others may be very deep. */
static void add_lines(const struct branches *branches, unsigned int outermost_level)
{
	/* The level of each line's first node, needed on the way back up. */
	unsigned int *level = xzalloc(branches->tree->count * sizeof *level);
	uint32_t node = shown_nodes_child(&branches->shown, 0);

	level[node] = outermost_level;
	while (node) {
		uint32_t last = add_line(branches, node, level[node]);
		uint32_t next = shown_nodes_child(&branches->shown, last);
		if (next) {
			level[next] = level[node] + 1;
			node = next;
			continue;
		}
		for (next = last; next; next = branches->tree->nodes[next].parent) {
			uint32_t sibling = shown_nodes_sibling(&branches->shown, next);
			if (sibling) {
				level[sibling] = level[next];
				next = sibling;
				break;
			}
		}
		node = next;
	}
	freep(&level);
}

static void add_rest(const struct branches *branches, size_t hidden,
		     const struct report_options *options)
{
	struct text sentence = { 0 };

	if (hidden == 0)
		return;
	text_add(&sentence, "… ");
	number_add_count(&sentence, hidden);
	text_addf(&sentence, " lighter call%s not shown (--min %g", hidden == 1 ? "" : "s",
		  shown_nodes_least_percent(options));
	if (options->max_rows == REPORT_ALL_ROWS)
		text_add(&sentence, " decides)");
	else
		text_addf(&sentence, " and -n %zu decide)", shown_nodes_limit(options));
	style_add(branches->out, branches->style, TINT_DIM, text_string(&sentence));
	text_add(branches->out, "\n");
	text_done(&sentence);
}

/* How to present a tree. */
struct view {
	const char *title;    /* of the column of names */
	const char *sentence; /* about the function, or NULL */
	bool has_self;
};

static const struct view top_down_view = { "call tree", NULL, true };
static const struct view callers_view = { "called from", "Callers of", false };
static const struct view callees_view = { "calls", "Callees of", true };

static void add_titles(struct branches *branches, const struct view *view)
{
	struct text titles = { 0 };

	text_add(&titles, "total %  ");
	if (view->has_self)
		text_add(&titles, "self %  ");
	text_add(&titles, "total time  ");
	if (branches->has_calls)
		text_addf(&titles, "%*s  ", CALLS_COLUMNS, "calls");
	branches->call_column = (unsigned int)titles.len;
	text_add(&titles, view->title);
	style_add(branches->out, branches->style, TINT_BOLD, text_string(&titles));
	text_add(branches->out, "\n");
	text_done(&titles);
}

/* root: the name that the tree's root stands for, or NULL if it is everything. */
static void add_tree(const struct selection *selection, const struct tree *tree,
		     const struct view *view, const char *root,
		     const struct report_options *options, const struct style *style,
		     struct text *out)
{
	struct branches branches = {
		.profile = selection->profile,
		.tree = tree,
		.style = style,
		.out = out,
		.ns = tree->nodes[0].total_ns,
		.unit = time_unit_for(tree->nodes[0].total_ns),
		.has_self = view->has_self,
		.has_calls = profile_is_trace(selection->profile) &&
			     (style->width == 0 || style->width >= CALLS_WIDTH),
		.shown = { .tree = tree,
			   .ns = tree->nodes[0].total_ns,
			   .is_of_callers = view == &callers_view,
			   .is_shown = xzalloc(tree->count * sizeof(bool)) },
	};

	add_titles(&branches, view);
	if (root) {
		add_numbers(&branches, &tree->nodes[0], &tree->nodes[0]);
		add_name(&branches, root, branches.call_column, branches.call_column);
		text_add(out, "\n");
	}
	size_t hidden = shown_nodes_choose(&branches.shown, options);
	add_lines(&branches, root ? 1 : 0);
	add_rest(&branches, hidden, options);
	freep(&branches.shown.is_shown);
}

/*
 * Adds "Callers of deflate_fast: 4.953 s, 41.2 % of 12.034 s. Percentages are of the 4.953 s."
 */
static void add_sentence(const struct view *view, const struct found *found, uint64_t ns,
			 uint64_t whole, const struct style *style, struct text *out)
{
	struct text sentence = { 0 };

	text_addf(&sentence, "%s ", view->sentence);
	style_add_function(&sentence, style, found->name);
	if (found->count > 1)
		text_addf(&sentence, " (%zu functions of this name)", found->count);
	text_add(&sentence, ": percentages are of its ");
	number_add_any_time(&sentence, ns);
	text_addf(&sentence, ", which is %.1f %% of the above.", number_percent(ns, whole));
	style_add_wrapped(out, style, 0, text_string(&sentence));
	text_add(out, "\n\n");
	text_done(&sentence);
}

static void add_view(const struct selection *selection, const struct tree *top_down,
		     const struct view *view, const struct found *found,
		     const struct report_options *options, const struct style *style,
		     struct text *out)
{
	struct tree tree;

	if (view == &callers_view)
		tree_callers(top_down, found->is_meant, &tree);
	else
		tree_callees(top_down, found->is_meant, &tree);
	add_sentence(view, found, tree.nodes[0].total_ns, selection->ns, style, out);
	add_tree(selection, &tree, view, found->name, options, style, out);
	tree_done(&tree);
}

int branches_add(const struct selection *selection, const struct report_options *options,
		 const struct style *style, struct text *out, struct error *err)
{
	const struct {
		const char *name;
		const struct view *view;
	} asked[] = { { options->callers, &callers_view },
		      { options->callees, &callees_view } };
	struct found found[2] = { 0 };
	CLEANUP(tree_done) struct tree top_down = { 0 };
	int rc = 0;

	for (size_t i = 0; i < 2 && rc == 0; i++) {
		if (asked[i].name)
			rc = find_functions(selection->profile, asked[i].name, &found[i], err);
	}
	if (rc == 0) {
		tree_top_down(selection->profile, selection->filter, &top_down);
		if (options->has_tree)
			add_tree(selection, &top_down, &top_down_view, NULL, options, style,
				 out);
	}
	for (size_t i = 0, views = options->has_tree; i < 2; i++) {
		if (rc == 0 && asked[i].name) {
			text_add(out, views++ > 0 ? "\n" : "");
			add_view(selection, &top_down, asked[i].view, &found[i], options, style,
				 out);
		}
		found_done(&found[i]);
	}
	return rc;
}
