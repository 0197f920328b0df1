/*
 * speedscope - writes the JSON of speedscope.app: one sampled profile per thread.
 *
 * A recording's weights are sums, so speedscope's "time order" shows no real order: stacks come
 * heaviest first, grouped by caller. Source: https://www.speedscope.app/file-format-schema.json
 */
#include "export/formats.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "export/calltree.h"
#include "export/meaning.h"
#include "export/output.h"
#include "profile/idle.h"
#include "profile/profile.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

static void write_name(struct output *output, const struct profile_info *info)
{
	CLEANUP(text_done) struct text name = { 0 };

	for (size_t i = 0; i < info->command_count; i++)
		text_addf(&name, "%s%s", i > 0 ? " " : "", info->command[i]);
	output_json_string(output, info->command_count > 0 ? text_string(&name) : "fathom");
}

/*
 * speedscope has no modules: for a function without a source file, the module is given as its
 * file, which also distinguishes functions of the same name in two modules.
 */
static void write_frame(struct output *output, const struct profile *profile, uint32_t n)
{
	const struct function *function = meaning_of_function(profile, n);
	const char *file =
		function->file ? function->file : meaning_of_module(profile, function);

	text_add(&output->buffer, "{\"name\":");
	output_json_string(output, meaning_of_name(function));
	if (file) {
		text_add(&output->buffer, ",\"file\":");
		output_json_string(output, file);
	}
	if (function->file && function->line > 0)
		text_addf(&output->buffer, ",\"line\":%" PRIu32, function->line);
	text_add(&output->buffer, "}");
	output_tick(output);
}

static void write_state(struct output *output, uint32_t state)
{
	CLEANUP(text_done) struct text name = { 0 };

	meaning_add_state(&name, state);
	text_add(&output->buffer, ",\n{\"name\":");
	output_json_string(output, text_string(&name));
	text_add(&output->buffer, "}");
}

/*
 * Frame i is function id i, so that stacks need no translation; frame 0 is "[unknown]". States
 * come after the functions.
 */
static void write_frames(struct output *output, const struct profile *profile)
{
	text_add(&output->buffer, "\"shared\":{\"frames\":[");
	for (uint32_t n = 0; n <= profile_function_count(profile); n++) {
		text_add(&output->buffer, n > 0 ? ",\n" : "\n");
		write_frame(output, profile, n);
	}
	for (uint32_t i = 0; meaning_has_states(profile) && i < THREAD_STATE_COUNT; i++)
		write_state(output, i);
	text_add(&output->buffer, "\n]}");
}

static void write_stack(struct output *output, const struct calltree *tree, uint32_t node,
			uint32_t *path)
{
	size_t depth = calltree_path(tree, node, path);

	text_add(&output->buffer, "[");
	for (size_t i = 0; i < depth; i++)
		text_addf(&output->buffer, "%s%" PRIu32, i > 0 ? "," : "",
			  tree->nodes[path[i]].key);
	text_add(&output->buffer, "]");
	output_tick(output);
}

static void write_samples(struct output *output, const struct calltree *tree,
			  const struct calltree_row *rows, size_t count, uint32_t *path)
{
	text_add(&output->buffer, "\"samples\":[");
	for (size_t i = 0; i < count; i++) {
		text_add(&output->buffer, i > 0 ? "," : "");
		write_stack(output, tree, rows[i].node, path);
	}
	text_add(&output->buffer, "],\n\"weights\":[");
	for (size_t i = 0; i < count; i++) {
		text_addf(&output->buffer, "%s%" PRIu64, i > 0 ? "," : "", rows[i].ns);
		output_tick(output);
	}
	text_add(&output->buffer, "]");
}

static uint64_t sum_ns(const struct calltree_row *rows, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += rows[i].ns;
	return sum;
}

/*
 * Writes one thread's rows, of which there are none if it was not sampled. path has room for
 * the longest.
 */
static void write_thread(struct output *output, const struct profile *profile,
			 const struct calltree *tree, const struct calltree_row *rows,
			 size_t count, uint32_t *path)
{
	CLEANUP(text_done) struct text name = { 0 };

	if (count > 0)
		meaning_add_thread(&name, profile, rows->thread);
	else
		text_add(&name, "no samples");
	text_add(&output->buffer, "{\"type\":\"sampled\",\"name\":");
	output_json_string(output, text_string(&name));
	text_addf(&output->buffer,
		  ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":%" PRIu64 ",\n",
		  sum_ns(rows, count));
	write_samples(output, tree, rows, count, path);
	text_add(&output->buffer, "}");
}

/*
 * Returns the index of the profile with the most time, to be shown first: of a thread that is not
 * idle, if there is one, since on the wall clock a pool's idle threads live longest.
 */
static size_t write_threads(struct output *output, const struct profile *profile,
			    const struct calltree *tree)
{
	CLEANUP(freep)
	uint32_t *path = xreallocarray(NULL, calltree_depth(tree) + 1, sizeof *path);
	CLEANUP(freep) struct stack_id *idle = idle_places(profile);
	size_t heaviest = 0, index = 0, first = 0;
	uint64_t heaviest_ns = 0;
	bool is_busy = false;

	text_add(&output->buffer, "\"profiles\":[\n");
	do {
		size_t end = first;
		while (end < tree->row_count &&
		       tree->rows[end].thread == tree->rows[first].thread)
			end++;
		text_add(&output->buffer, index > 0 ? ",\n" : "");
		write_thread(output, profile, tree, tree->rows + first, end - first, path);
		const uint64_t ns = sum_ns(tree->rows + first, end - first);
		const bool is_idle = first < end && idle[tree->rows[first].thread].n != 0;

		if ((!is_idle && !is_busy) || (is_idle != is_busy && ns > heaviest_ns)) {
			heaviest_ns = ns;
			heaviest = index;
			is_busy = !is_idle;
		}
		first = end;
		index++;
	} while (first < tree->row_count);
	text_add(&output->buffer, "\n]");
	return heaviest;
}

int write_speedscope(const struct profile *profile, const struct sink *sink, struct error *err)
{
	struct output output = output_to(sink, err);
	uint32_t key_of_state[THREAD_STATE_COUNT];
	struct calltree tree;

	for (uint32_t i = 0; i < THREAD_STATE_COUNT; i++)
		key_of_state[i] = (uint32_t)profile_function_count(profile) + 1 + i;
	calltree_init_by_function(&tree, profile,
				  meaning_has_states(profile) ? key_of_state : NULL);
	text_add(&output.buffer, "{\"$schema\":\"" SCHEMA "\",\n\"name\":");
	write_name(&output, profile_get_info(profile));
	text_add(&output.buffer, ",\n\"exporter\":\"fathom@" FATHOM_VERSION "\",\n");
	write_frames(&output, profile);
	text_add(&output.buffer, ",\n");
	size_t heaviest = write_threads(&output, profile, &tree);
	text_addf(&output.buffer, ",\n\"activeProfileIndex\":%zu}\n", heaviest);
	calltree_done(&tree);
	return output_done(&output);
}
