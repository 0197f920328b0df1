#include "export/difference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "export/amounts.h"
#include "export/calltree.h"
#include "export/difference_tree.h"
#include "export/oklch.h"
#include "export/output.h"
#include "export/page.h"
#include "export/picture.h"
#include "export/sink.h"
#include "profile/compare.h"
#include "profile/short_name.h"

/* The chroma of changes that may be chance, relative to that of certain ones. */
#define PALE       0.25
#define LIGHTNESS  0.93
#define DARKER     0.23
#define CHROMA     0.19
#define HUE_MORE   27
#define HUE_LESS   250
#define ROOT_COLOR 0xdddcd8

struct drawn {
	const struct difference_terms *terms;
	struct difference_tree tree;
	enum difference_side side;
	const struct calltree_node *nodes;
	const uint32_t *of;     /* the tree's node of each */
	enum verdict *verdicts; /* by the key of a function */
};

/* Finds the verdict of the comparison for each function in the tree. */
static void find_verdicts(struct drawn *drawn)
{
	const struct comparison *comparison = drawn->terms->comparison;
	uint32_t most = 0;

	for (size_t i = 0; i < drawn->tree.count; i++)
		if (drawn->tree.nodes[i].function > most)
			most = drawn->tree.nodes[i].function;
	drawn->verdicts = xzalloc((most + 1) * sizeof *drawn->verdicts);
	for (size_t i = 0; i < comparison->count; i++) {
		const struct compared *row = &comparison->rows[i];
		const char *const names[] = { row->name, row->former_name };

		for (int n = 0; n < 2 && names[n]; n++) {
			CLEANUP(text_done) struct text key = { 0 };

			difference_add_key(&key, names[n], row->file, row->module);
			const uint32_t id = intern_find(&drawn->tree.names, key.data, key.len);

			if (id > 0 && id <= most)
				drawn->verdicts[id] = row->self.verdict;
		}
	}
}

static const struct difference_node *node_of(const struct drawn *drawn, uint32_t node)
{
	return &drawn->tree.nodes[drawn->of[node]];
}

static bool is_certain(enum verdict verdict)
{
	return verdict != VERDICT_CANNOT_TELL && verdict != VERDICT_UNCHANGED;
}

/* From grey to red or blue, by the change of its self time relative to the largest change. */
static uint32_t node_color(const void *context, uint32_t node)
{
	const struct drawn *drawn = context;
	const struct difference_node *of = node_of(drawn, node);
	const double change = of->self_ns[1] - of->self_ns[0];
	double strength =
		drawn->tree.most_ns > 0 ? sqrt(fabs(change) / drawn->tree.most_ns) : 0;

	if (node == 0)
		return ROOT_COLOR;
	if (!is_certain(drawn->verdicts[of->function]))
		strength *= PALE;
	return oklch_to_rgb(LIGHTNESS - DARKER * strength, CHROMA * strength,
			    change > 0 ? HUE_MORE : HUE_LESS);
}

/* The name: the first line of the function's key. */
static char *name_of(const struct drawn *drawn, uint32_t node)
{
	const char *key = node == 0 ? "all"
				    : intern_get(&drawn->tree.names,
						 node_of(drawn, node)->function, NULL);

	return xstrndup(key, strcspn(key, "\n"));
}

static void add_label(const void *context, uint32_t node, size_t columns, struct text *out)
{
	CLEANUP(freep) char *name = name_of(context, node);

	short_name_add(out, name, columns);
}

static void add_change(struct text *out, const char *what, const double ns[2])
{
	text_addf(out, "\n%s ", what);
	amounts_add_time(out, (uint64_t)ns[0]);
	text_add(out, " → ");
	amounts_add_time(out, (uint64_t)ns[1]);
	if (ns[0] > 0)
		text_addf(out, "  %+.1f %%", 100 * (ns[1] / ns[0] - 1));
}

static void add_details(const void *context, uint32_t node, struct text *out)
{
	const struct drawn *drawn = context;
	const struct difference_node *of = node_of(drawn, node);
	CLEANUP(freep) char *name = name_of(drawn, node);

	text_add(out, name);
	add_change(out, "total", of->total_ns);
	if (node == 0)
		return;
	add_change(out, "self", of->self_ns);
	const enum verdict verdict = drawn->verdicts[of->function];

	text_addf(out, "\nof the function in all: %s",
		  verdict == VERDICT_CANNOT_TELL ? "cannot tell" : verdict_name(verdict));
}

static int write_side(struct drawn *drawn, enum difference_side side, const struct sink *sink,
		      struct error *err)
{
	const struct picture_legend legend[] = {
		{ "more time than before", oklch_to_rgb(LIGHTNESS - DARKER, CHROMA, HUE_MORE) },
		{ "less", oklch_to_rgb(LIGHTNESS - DARKER, CHROMA, HUE_LESS) },
		{ "pale: may be chance",
		  oklch_to_rgb(LIGHTNESS - DARKER * PALE, CHROMA * PALE, HUE_MORE) },
	};
	CLEANUP(text_done) struct text title = { 0 }, facts = { 0 };
	CLEANUP(freep) uint32_t *of = NULL;
	CLEANUP(freep)
	struct calltree_node *nodes = difference_tree_order(&drawn->tree, side, &of);

	drawn->side = side;
	drawn->nodes = nodes;
	drawn->of = of;
	text_addf(&title, "%s → %s", drawn->terms->titles[0], drawn->terms->titles[1]);
	text_addf(&facts, "widths: time %s · total ",
		  side == DIFFERENCE_AFTER ? "after" : "before");
	amounts_add_time(&facts, (uint64_t)drawn->tree.nodes[0].total_ns[0]);
	text_add(&facts, " → ");
	amounts_add_time(&facts, (uint64_t)drawn->tree.nodes[0].total_ns[1]);
	return picture_write(
		&(struct picture){
			.title = text_string(&title),
			.facts = text_string(&facts),
			.nodes = nodes,
			.node_count = drawn->tree.count,
			.color = node_color,
			.add_label = add_label,
			.add_details = add_details,
			.context = drawn,
			.legend = legend,
			.legend_count = sizeof legend / sizeof *legend,
		},
		sink, err);
}

static void drawn_init(struct drawn *drawn, const struct difference_terms *terms)
{
	*drawn = (struct drawn){ .terms = terms };
	difference_tree_init(&drawn->tree, terms);
	find_verdicts(drawn);
}

static void drawn_done(struct drawn *drawn)
{
	difference_tree_done(&drawn->tree);
	free(drawn->verdicts);
}

int difference_write_svg(const struct difference_terms *terms, enum difference_side widths,
			 const struct sink *sink, struct error *err)
{
	struct drawn drawn;

	drawn_init(&drawn, terms);
	const int rc = write_side(&drawn, widths, sink, err);

	drawn_done(&drawn);
	return rc;
}

static int write_string(const struct sink *sink, const char *string, struct error *err)
{
	return sink->write(sink->context, string, strlen(string), err);
}

/* Writes the image without its XML prolog, to be embedded in a page. */
static int write_part(struct drawn *drawn, enum difference_side side, const struct sink *sink,
		      struct error *err)
{
	CLEANUP(text_done) struct text image = { 0 };
	const struct sink text = sink_to_text(&image);
	int rc = write_side(drawn, side, &text, err);

	if (rc < 0)
		return rc;
	const char *svg = strstr(text_string(&image), "<svg");

	rc = write_string(sink,
			  side == DIFFERENCE_AFTER ? "<div id=\"after\">\n"
						   : "<div id=\"before\" hidden>\n",
			  err);
	if (rc == 0)
		rc = write_string(sink, svg ? svg : "", err);
	return rc < 0 ? rc : write_string(sink, "</div>\n", err);
}

int difference_write_html(const struct difference_terms *terms, const struct sink *sink,
			  struct error *err)
{
	struct drawn drawn;

	drawn_init(&drawn, terms);
	int rc = sink->write(sink->context, difference_head, difference_head_size, err);

	if (rc == 0)
		rc = write_part(&drawn, DIFFERENCE_AFTER, sink, err);
	if (rc == 0)
		rc = write_part(&drawn, DIFFERENCE_BEFORE, sink, err);
	if (rc == 0)
		rc = sink->write(sink->context, difference_tail, difference_tail_size, err);
	drawn_done(&drawn);
	return rc;
}
