/*
 * flamegraph - writes one self-contained page that draws the profile in a browser.
 *
 * The page is in flamegraph/; this file writes its data: columns of the nodes of the merged
 * call tree in pre-order (in which a node's depth determines its parent), and the time of each
 * thread in each node.
 */
#include "export/formats.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/text.h"
#include "export/calltree.h"
#include "export/meaning.h"
#include "export/output.h"
#include "export/page.h"
#include "profile/idle.h"
#include "profile/label.h"
#include "profile/time_slots.h"
#include "profile/packages.h"
#include "profile/profile.h"
#include "profile/intervals.h"

/* Writes a comma, except before the first element of a list. */
static void separate(struct output *output, bool is_first)
{
	if (!is_first)
		text_add(&output->buffer, ",");
	output_tick(output);
}

static void write_strings(struct output *output, const char *name, const char *const *strings,
			  size_t count)
{
	text_addf(&output->buffer, ",\"%s\":[", name);
	for (size_t i = 0; i < count; i++) {
		separate(output, i == 0);
		output_json_string(output, strings[i]);
	}
	text_add(&output->buffer, "]");
}

static void write_string(struct output *output, const char *name, const char *string)
{
	text_addf(&output->buffer, ",\"%s\":", name);
	output_json_string(output, string);
}

static void write_figure(struct output *output, const char *name, uint64_t figure)
{
	if (figure == FIGURE_UNKNOWN)
		text_addf(&output->buffer, ",\"%s\":null", name);
	else
		text_addf(&output->buffer, ",\"%s\":%" PRIu64, name, figure);
}

static void write_info(struct output *output, const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);

	text_addf(&output->buffer, ",\n\"info\":{\"is_unfinished\":%s",
		  info->is_unfinished ? "true" : "false");
	write_strings(output, "command", info->command, info->command_count);
	write_string(output, "clock", info->clock);
	write_string(output, "trigger", info->trigger);
	write_string(output, "host", info->host);
	write_figure(output, "rate_hz", info->rate_hz);
	write_figure(output, "start_unix_ns", info->start_unix_ns);
	write_figure(output, "wall_ns", info->wall_ns);
	write_string(output, "counted", meaning_of_counts(profile));
	write_figure(output, "count", profile_is_trace(profile) ? info->calls : info->samples);
	write_figure(output, "lost", profile_is_trace(profile) ? 0 : info->lost);
	if (info->has_unexplained)
		text_addf(&output->buffer, ",\"unexplained_ns\":%" PRId64,
			  info->unexplained_ns);
	else
		text_add(&output->buffer, ",\"unexplained_ns\":null");
	write_string(output, "part", info->part);
	write_strings(output, "notes", info->notes, info->note_count);
	text_add(&output->buffer, "}");
}

static void write_languages(struct output *output)
{
	text_add(&output->buffer, ",\n\"languages\":[");
	for (int i = 0; i < LANGUAGE_COUNT; i++) {
		separate(output, i == 0);
		output_json_string(output, language_name((enum language)i));
	}
	text_add(&output->buffer, "]");
}

/* On the wall clock only; by number. */
static void write_states(struct output *output)
{
	text_add(&output->buffer, ",\n\"states\":[");
	for (int i = 0; i < THREAD_STATE_COUNT; i++) {
		separate(output, i == 0);
		output_json_string(output, thread_state_name((enum thread_state)i));
	}
	text_add(&output->buffer, "]");
}

/* By module id; 0 is none. */
static void write_modules(struct output *output, const struct profile *profile)
{
	text_add(&output->buffer, ",\n\"modules\":[null");
	for (uint32_t n = 1; n <= profile_module_count(profile); n++) {
		separate(output, false);
		output_json_string(output,
				   profile_get_module(profile, (struct module_id){ n })->path);
	}
	text_add(&output->buffer, "]");
}

/* By package number: name, origin; 0 is none. */
static void write_packages(struct output *output, const struct packages *packages)
{
	text_add(&output->buffer, ",\n\"packages\":[null");
	for (uint32_t n = 1; n <= packages_count(packages); n++) {
		const struct package *package = packages_get(packages, n);

		separate(output, false);
		text_add(&output->buffer, "[");
		output_json_string(output, package->name);
		text_addf(&output->buffer, ",\"%s\"]", origin_word(package->origin));
	}
	text_add(&output->buffer, "]");
}

/*
 * By function id: name, language, module, file, line of the definition, package, whether own
 * code.
 */
static void write_functions(struct output *output, const struct profile *profile,
			    const struct packages *packages)
{
	text_add(&output->buffer, ",\n\"functions\":[");
	for (uint32_t n = 0; n <= profile_function_count(profile); n++) {
		const struct function *function = meaning_of_function(profile, n);
		separate(output, n == 0);
		text_add(&output->buffer, "\n[");
		output_json_string(output, meaning_of_name(function));
		text_addf(&output->buffer, ",%d,%" PRIu32 ",", (int)function->language,
			  function->module.n);
		output_json_string(output, function->file);
		text_addf(&output->buffer, ",%" PRIu32 ",%" PRIu32 ",%d]", function->line,
			  packages_of(packages, (struct function_id){ n }),
			  packages_is_own(packages, (struct function_id){ n }));
	}
	text_add(&output->buffer, "]");
}

/* By thread id, 0 for none: process, pid, name, tid, and 1 if it is idle. */
static void write_threads(struct output *output, const struct profile *profile)
{
	CLEANUP(freep) struct stack_id *idle = idle_places(profile);

	text_add(&output->buffer, ",\n\"threads\":[[\"\",0,\"no thread\",0]");
	for (uint32_t n = 1; n <= profile_thread_count(profile); n++) {
		const struct thread *thread =
			profile_get_thread(profile, (struct thread_id){ n });
		const struct process *process =
			thread->process.n ? profile_get_process(profile, thread->process)
					  : NULL;
		separate(output, false);
		text_add(&output->buffer, "\n[");
		struct text label = { 0 };

		if (process)
			label_add_process(&label, process);
		output_json_string(output, process ? text_string(&label) : "process");
		text_done(&label);
		text_addf(&output->buffer, ",%d,", process ? process->pid : 0);
		output_json_string(output, thread->name);
		text_addf(&output->buffer, ",%d%s]", thread->tid, idle[n].n ? ",1" : "");
	}
	text_add(&output->buffer, "]");
}

static void write_nodes(struct output *output, const struct calltree *tree)
{
	uint32_t depth = 0;

	text_add(&output->buffer, ",\n\"depth\":[0");
	for (uint32_t i = 1; i < tree->node_count; i++) {
		/*
		 * The preceding node is the parent, or in the subtree of a preceding sibling.
		 */
		uint32_t before = i - 1;
		for (depth++; before != tree->nodes[i].parent; depth--)
			before = tree->nodes[before].parent;
		text_addf(&output->buffer, ",%" PRIu32, depth);
		output_tick(output);
	}
	text_add(&output->buffer, "],\n\"function\":[0");
	for (uint32_t i = 1; i < tree->node_count; i++) {
		text_addf(&output->buffer, ",%" PRIu32, tree->nodes[i].key);
		output_tick(output);
	}
	text_add(&output->buffer, "],\n\"inlined\":[");
	bool is_first = true;
	for (uint32_t i = 1; i < tree->node_count; i++) {
		if (!tree->nodes[i].is_inlined)
			continue;
		separate(output, is_first);
		text_addf(&output->buffer, "%" PRIu32, i);
		is_first = false;
	}
	text_add(&output->buffer, "]");
}

/* Narrower boxes get no interval. */
#define OFF_SHARE 0.001

/* How far each box's time may be off, in ns; 0 if it is exact, or the box is narrow. */
static void write_off(struct output *output, const struct profile *profile,
		      const struct calltree *tree)
{
	CLEANUP(freep)
	struct intervals *rows = xzalloc((tree->node_count + 1) * sizeof *rows);
	CLEANUP(freep) uint32_t *parents = xzalloc(tree->node_count * sizeof *parents);
	const double least_ns = OFF_SHARE * (double)tree->nodes[0].total_ns;

	for (size_t i = 0; i < tree->node_count; i++)
		parents[i] = tree->nodes[i].parent;
	intervals_find(
		&(struct interval_terms){
			.profile = profile,
			.place_of_stack = tree->node_of_stack,
			.parents = parents,
			.place_count = tree->node_count,
			.row_count = tree->node_count,
		},
		rows);
	text_add(&output->buffer, ",\n\"off\":[0");
	for (size_t i = 1; i < tree->node_count; i++) {
		const struct interval *bounds = &rows[i].total;
		const bool is_wide = (double)tree->nodes[i].total_ns >= least_ns;

		text_addf(&output->buffer, ",%" PRIu64,
			  is_wide ? (bounds->high_ns - bounds->low_ns) / 2 : 0);
		output_tick(output);
	}
	text_add(&output->buffer, "]");
}

static uint64_t row_thread(const struct calltree_row *row)
{
	return row->thread;
}

static uint64_t row_node(const struct calltree_row *row)
{
	return row->node;
}

static uint64_t row_state(const struct calltree_row *row)
{
	return row->state;
}

static uint64_t row_ns(const struct calltree_row *row)
{
	return row->ns;
}

static uint64_t row_count(const struct calltree_row *row)
{
	return row->count;
}

/*
 * The column of states comes last: clocks other than the wall clock have one state, and no
 * column.
 */
static void write_rows(struct output *output, const struct calltree *tree, bool has_states)
{
	static const struct {
		const char *name;
		uint64_t (*value)(const struct calltree_row *row);
	} columns[] = {
		{ "thread", row_thread }, { "node", row_node },   { "ns", row_ns },
		{ "count", row_count },   { "state", row_state },
	};
	const size_t count = sizeof columns / sizeof *columns - !has_states;

	for (size_t c = 0; c < count; c++) {
		text_addf(&output->buffer, "%s\"%s\":[", c == 0 ? ",\n\"rows\":{" : ",\n",
			  columns[c].name);
		for (size_t i = 0; i < tree->row_count; i++) {
			separate(output, i == 0);
			text_addf(&output->buffer, "%" PRIu64,
				  columns[c].value(&tree->rows[i]));
		}
		text_add(&output->buffer, "]");
	}
	text_add(&output->buffer, "}");
}

static uint64_t slot_row_slot(const struct slot_row *row, const struct calltree *tree)
{
	(void)tree;
	return row->slot;
}

static uint64_t slot_row_thread(const struct slot_row *row, const struct calltree *tree)
{
	(void)tree;
	return row->thread.n;
}

static uint64_t slot_row_node(const struct slot_row *row, const struct calltree *tree)
{
	return tree->node_of_stack[row->stack.n];
}

static uint64_t slot_row_state(const struct slot_row *row, const struct calltree *tree)
{
	(void)tree;
	return row->state;
}

static uint64_t slot_row_ns(const struct slot_row *row, const struct calltree *tree)
{
	(void)tree;
	return row->ns;
}

static uint64_t slot_row_count(const struct slot_row *row, const struct calltree *tree)
{
	(void)tree;
	return row->samples;
}

/* Writes the part of the rows that has times, with the times. */
static void write_time_slots(struct output *output, const struct time_slots *time_slots,
			     const struct calltree *tree, bool has_states)
{
	static const struct {
		const char *name;
		uint64_t (*value)(const struct slot_row *row, const struct calltree *tree);
	} columns[] = {
		{ "slot", slot_row_slot },   { "thread", slot_row_thread },
		{ "node", slot_row_node },   { "ns", slot_row_ns },
		{ "count", slot_row_count }, { "state", slot_row_state },
	};
	const size_t count = sizeof columns / sizeof *columns - !has_states;

	text_addf(&output->buffer,
		  ",\n\"time_slots\":{\"slots\":%" PRIu32 ",\"slot_ns\":%" PRIu64,
		  time_slots->slot_count, time_slots->slot_ns);
	for (size_t c = 0; c < count; c++) {
		text_addf(&output->buffer, ",\n\"%s\":[", columns[c].name);
		for (size_t i = 0; i < time_slots->count; i++) {
			separate(output, i == 0);
			text_addf(&output->buffer, "%" PRIu64,
				  columns[c].value(&time_slots->rows[i], tree));
		}
		text_add(&output->buffer, "]");
	}
	text_add(&output->buffer, "}");
}

int write_flamegraph(const struct profile *profile, const struct sink *sink, struct error *err)
{
	struct output output = output_to(sink, err);
	const struct packages_options own = { .own = profile_get_info(profile)->own };
	CLEANUP(packages_freep) struct packages *packages = packages_new(profile, &own);
	const bool is_wall = profile_get_info(profile)->is_wall;
	struct calltree tree;

	calltree_init_by_function(&tree, profile, NULL);
	text_add_bytes(&output.buffer, flamegraph_head, flamegraph_head_size);
	text_add(&output.buffer, "{\"fathom\":\"" FATHOM_VERSION "\"");
	write_info(&output, profile);
	write_languages(&output);
	if (is_wall)
		write_states(&output);
	write_modules(&output, profile);
	write_packages(&output, packages);
	write_functions(&output, profile, packages);
	write_threads(&output, profile);
	write_nodes(&output, &tree);
	if (!profile_is_trace(profile))
		write_off(&output, profile, &tree);
	write_rows(&output, &tree, is_wall);
	write_time_slots(&output, profile_get_time_slots(profile), &tree, is_wall);
	text_add(&output.buffer, "}\n");
	text_add_bytes(&output.buffer, flamegraph_tail, flamegraph_tail_size);
	calltree_done(&tree);
	return output_done(&output);
}
