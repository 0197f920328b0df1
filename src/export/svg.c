/*
 * svg - writes the flame graph as an image without scripts, for documents and issue trackers.
 *
 * Boxes, names and colours are those of the page with callers on top.
 */
#include "export/formats.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "export/amounts.h"
#include "export/calltree.h"
#include "export/meaning.h"
#include "export/oklch.h"
#include "export/package_colors.h"
#include "export/picture.h"
#include "profile/packages.h"
#include "profile/profile.h"
#include "profile/short_name.h"

#define LEGEND_MAX 14
#define ROOT_COLOR 0xdddcd8

/* As on the page (flamegraph/states.js). */
#define STATE_LIGHTNESS 0.8
static const struct {
	double hue, chroma;
} state_colors[THREAD_STATE_COUNT] = {
	[THREAD_STATE_RUNNING] = { 145, 0.13 }, [THREAD_STATE_RUNNABLE] = { 100, 0.14 },
	[THREAD_STATE_GIL] = { 18, 0.15 },      [THREAD_STATE_GVL] = { 18, 0.15 },
	[THREAD_STATE_LOCK] = { 350, 0.13 },    [THREAD_STATE_IO] = { 245, 0.13 },
	[THREAD_STATE_SLEEP] = { 285, 0.07 },   [THREAD_STATE_WAIT] = { 300, 0.13 },
	[THREAD_STATE_STOPPED] = { 0, 0 },      [THREAD_STATE_SYSCALL] = { 200, 0.09 },
};

struct drawn {
	const struct profile *profile;
	const struct packages *packages;
	const struct package_colors *colors;
	struct calltree tree;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Boxes of states, on the wall clock, have keys above the functions'. */
static bool is_state(const struct drawn *drawn, uint32_t node)
{
	return drawn->tree.nodes[node].key > profile_function_count(drawn->profile);
}

static uint32_t state_of(const struct drawn *drawn, uint32_t node)
{
	return drawn->tree.nodes[node].key - (uint32_t)profile_function_count(drawn->profile) -
	       1;
}

static const struct function *function_of(const struct drawn *drawn, uint32_t node)
{
	return meaning_of_function(drawn->profile, drawn->tree.nodes[node].key);
}

static uint32_t node_color(const void *context, uint32_t node)
{
	const struct drawn *drawn = context;

	if (node == 0)
		return ROOT_COLOR;
	if (is_state(drawn, node))
		return oklch_to_rgb(STATE_LIGHTNESS, state_colors[state_of(drawn, node)].chroma,
				    state_colors[state_of(drawn, node)].hue);
	return package_colors_of(drawn->colors, drawn->tree.nodes[node].key);
}

/* Removes a scope of a Python or Ruby name: "Worker.run" becomes "…run" if space is short. */
static const char *without_scope(const char *name)
{
	const char *dot = strpbrk(name, ".#");

	while (dot && (!dot[1] || strchr(".#<", dot[1])))
		dot = strpbrk(dot + 1, ".#");
	return dot ? dot + 1 : NULL;
}

static void add_interpreted_label(struct text *out, const char *name, size_t columns)
{
	const char *rest = name;

	/* The ellipsis takes one column. */
	while (text_columns(rest) + (rest != name) > columns && without_scope(rest))
		rest = without_scope(rest);
	text_addf(out, "%s%s", rest == name ? "" : "…", rest);
}

static void add_label(const void *context, uint32_t node, size_t columns, struct text *out)
{
	const struct drawn *drawn = context;
	const struct function *function = function_of(drawn, node);
	const char *name = meaning_of_name(function);

	if (node == 0) {
		text_add(out, "all");
		return;
	}
	if (is_state(drawn, node)) {
		meaning_add_state(out, state_of(drawn, node));
		return;
	}
	if (drawn->tree.nodes[node].is_inlined) {
		text_add(out, "↳ ");
		columns -= columns > 2 ? 2 : columns;
	}
	/* Module code is named by its file. */
	if (strcmp(name, "<module>") == 0 && function->file)
		text_addf(out, "<module> %s", base_name(function->file));
	else if (language_is_interpreted(function->language))
		add_interpreted_label(out, name, columns);
	else if (profile_get_info(drawn->profile)->has_full_names)
		text_add(out, name);
	else
		short_name_add(out, name, columns);
}

static void add_origin(struct text *out, const struct drawn *drawn, uint32_t node)
{
	const uint32_t id = drawn->tree.nodes[node].key;
	const struct function *function = meaning_of_function(drawn->profile, id);
	const char *module = meaning_of_module(drawn->profile, function);
	const uint32_t package = packages_of(drawn->packages, (struct function_id){ id });

	if (function->file && function->line > 0)
		text_addf(out, "%s:%" PRIu32 " · ", function->file, function->line);
	else if (function->file)
		text_addf(out, "%s · ", function->file);
	text_add(out, module ? module : language_name(function->language));
	if (packages_is_own(drawn->packages, (struct function_id){ id }))
		text_add(out, " · your code");
	else if (package)
		text_addf(out, " · package %s", packages_get(drawn->packages, package)->name);
}

static void add_details(const void *context, uint32_t node, struct text *out)
{
	const struct drawn *drawn = context;
	const struct calltree_node *nodes = drawn->tree.nodes;

	if (is_state(drawn, node))
		meaning_add_state(out, state_of(drawn, node));
	else
		text_add(out, node ? meaning_of_name(function_of(drawn, node)) : "all");
	if (nodes[node].is_inlined && node)
		text_addf(out, ", inlined into %s",
			  meaning_of_name(function_of(drawn, nodes[node].parent)));
	text_add(out, "\ntotal ");
	amounts_add_share(out, nodes[node].total_ns, nodes[0].total_ns);
	text_add(out, "  ");
	amounts_add_time(out, nodes[node].total_ns);
	if (node == 0)
		return;
	text_add(out, ", self ");
	amounts_add_share(out, nodes[node].self_ns, nodes[0].total_ns);
	text_add(out, "  ");
	amounts_add_time(out, nodes[node].self_ns);
	text_addf(out, ", %" PRIu64 " %s",
		  profile_is_trace(drawn->profile) ? nodes[node].self_count
						   : nodes[node].total_count,
		  meaning_of_counts(drawn->profile));
	if (is_state(drawn, node))
		return;
	text_add(out, "\n");
	add_origin(out, drawn, node);
}

static void add_facts(struct text *out, const struct drawn *drawn)
{
	const struct profile_info *info = profile_get_info(drawn->profile);
	const char *clock = info->clock ? info->clock : "cpu";
	const char *of = strcmp(clock, "wall") == 0   ? "wall"
			 : strcmp(clock, "user") == 0 ? "user CPU"
						      : "CPU";

	if (info->part)
		text_addf(out, "%s · ", info->part);
	text_addf(out, "%" PRIu64 " %s · ",
		  profile_is_trace(drawn->profile) ? info->calls : info->samples,
		  meaning_of_counts(drawn->profile));
	amounts_add_time(out, drawn->tree.nodes[0].total_ns);
	text_addf(out, " of %s time", of);
	if (info->wall_ns > 0) {
		text_add(out, " · ");
		amounts_add_time(out, info->wall_ns);
		text_add(out, " of wall time");
	}
	if (info->lost > 0 && !profile_is_trace(drawn->profile))
		text_addf(out, " · %" PRIu64 " lost", info->lost);
	if (info->is_unfinished)
		text_add(out, " · the recording has no end");
}

static void add_command(struct text *out, const struct profile_info *info)
{
	for (size_t i = 0; i < info->command_count; i++)
		text_addf(out, "%s%s", i ? " " : "", info->command[i]);
	if (out->len == 0)
		text_add(out, "fathom");
}

static uint64_t *sum_self(const struct drawn *drawn)
{
	uint64_t *self_ns =
		xzalloc((profile_function_count(drawn->profile) + 1) * sizeof *self_ns);

	for (uint32_t i = 1; i < drawn->tree.node_count; i++) {
		/* Time in a state belongs to the function above it. */
		const uint32_t of = is_state(drawn, i) ? drawn->tree.nodes[i].parent : i;

		self_ns[drawn->tree.nodes[of].key] += drawn->tree.nodes[i].self_ns;
	}
	return self_ns;
}

static int write_picture(const struct drawn *drawn, const struct sink *sink, struct error *err)
{
	CLEANUP(text_done) struct text title = { 0 };
	CLEANUP(text_done) struct text facts = { 0 };
	struct text names[LEGEND_MAX] = { 0 };
	struct picture_legend legend[LEGEND_MAX];
	struct picture picture = {
		.nodes = drawn->tree.nodes,
		.node_count = drawn->tree.node_count,
		.color = node_color,
		.add_label = add_label,
		.add_details = add_details,
		.context = drawn,
		.legend = legend,
	};

	add_command(&title, profile_get_info(drawn->profile));
	add_facts(&facts, drawn);
	picture.title = text_string(&title);
	picture.facts = text_string(&facts);
	for (size_t i = 0; i < LEGEND_MAX; i++) {
		const struct package_family *family = package_colors_family(drawn->colors, i);

		if (!family || family->self_ns == 0)
			break;
		text_addf(&names[i], "%s ", family->name);
		amounts_add_share(&names[i], family->self_ns, drawn->tree.nodes[0].total_ns);
		legend[picture.legend_count++] =
			(struct picture_legend){ .name = text_string(&names[i]),
						 .color = family->color };
	}
	const int rc = picture_write(&picture, sink, err);

	for (size_t i = 0; i < picture.legend_count; i++)
		text_done(&names[i]);
	return rc;
}

int write_svg(const struct profile *profile, const struct sink *sink, struct error *err)
{
	const struct packages_options own = { .own = profile_get_info(profile)->own };
	CLEANUP(packages_freep) struct packages *packages = packages_new(profile, &own);
	struct drawn drawn = { .profile = profile, .packages = packages };

	uint32_t key_of_state[THREAD_STATE_COUNT];

	for (uint32_t i = 0; i < THREAD_STATE_COUNT; i++)
		key_of_state[i] = (uint32_t)profile_function_count(profile) + 1 + i;
	calltree_init_by_function(&drawn.tree, profile,
				  meaning_has_states(profile) ? key_of_state : NULL);
	CLEANUP(freep) uint64_t *self_ns = sum_self(&drawn);
	CLEANUP(package_colors_freep)
	struct package_colors *colors = package_colors_new(profile, packages, self_ns);

	drawn.colors = colors;
	const int rc = write_picture(&drawn, sink, err);

	calltree_done(&drawn.tree);
	return rc;
}
