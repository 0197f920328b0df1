/*
 * folded - writes one line per stack: outermost first, `;` between frames, a space, ns.
 *
 * Read by flamegraph.pl, inferno and speedscope. Frames are distinguished by label only, so the
 * lines of a function, and functions of the same name, are merged.
 */
#include "export/formats.h"

#include <stdlib.h>
#include <string.h>
#include <inttypes.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "export/calltree.h"
#include "export/meaning.h"
#include "export/output.h"
#include "profile/profile.h"
#include "profile/short_name.h"

/*
 * `;` would end a frame, so it is escaped as "\x3b"; control characters and invalid UTF-8
 * likewise.
 */
static void add_escaped(struct text *text, const char *string)
{
	for (;;) {
		size_t len = strcspn(string, ";");
		text_add_printable(text, string, len);
		if (string[len] == '\0')
			return;
		text_add(text, "\\x3b");
		string += len + 1;
	}
}

/* A longer C++ or Rust name loses the contents of its brackets, as in reports. */
#define LONG_NAME 60

static void add_name(struct text *text, const struct function *function, bool is_full)
{
	CLEANUP(text_done) struct text name = { 0 };

	if (is_full || function->language != LANGUAGE_NATIVE)
		text_add(&name, meaning_of_name(function));
	else
		short_name_add(&name, meaning_of_name(function), LONG_NAME);
	add_escaped(text, text_string(&name));
}

static void add_label(struct text *text, const struct function *function, bool is_full)
{
	add_name(text, function, is_full);
	if (!language_is_interpreted(function->language) || !function->file)
		return;
	text_add(text, " (");
	add_escaped(text, function->file);
	if (function->line > 0)
		text_addf(text, ":%" PRIu32, function->line);
	text_add(text, ")");
}

/* The distinct labels in byte order, so that sorting by key sorts the lines. */
struct labels {
	struct intern interned;
	uint32_t *id_of_frame; /* by frame id: first the interned id, then the rank */
	uint32_t *id_of_rank;
	/* By state, like id_of_frame: on the wall clock only. */
	uint32_t id_of_state[THREAD_STATE_COUNT];
};

static int compare_labels(const void *a, const void *b, void *context)
{
	return strcmp(intern_get(context, *(const uint32_t *)a, NULL),
		      intern_get(context, *(const uint32_t *)b, NULL));
}

static void rank_labels(struct labels *labels, size_t frames)
{
	size_t count = labels->interned.count;
	CLEANUP(freep)
	uint32_t *rank_of_id = xreallocarray(NULL, count + 1, sizeof *rank_of_id);

	labels->id_of_rank = xreallocarray(NULL, count + 1, sizeof *labels->id_of_rank);
	labels->id_of_rank[0] = rank_of_id[0] = 0;
	for (uint32_t i = 1; i <= count; i++)
		labels->id_of_rank[i] = i;
	qsort_r(labels->id_of_rank + 1, count, sizeof *labels->id_of_rank, compare_labels,
		&labels->interned);
	for (uint32_t rank = 1; rank <= count; rank++)
		rank_of_id[labels->id_of_rank[rank]] = rank;
	for (size_t i = 1; i <= frames; i++)
		labels->id_of_frame[i] = rank_of_id[labels->id_of_frame[i]];
	for (size_t i = 0; i < THREAD_STATE_COUNT; i++)
		labels->id_of_state[i] = rank_of_id[labels->id_of_state[i]];
}

static void make_labels(struct labels *labels, const struct profile *profile)
{
	CLEANUP(text_done) struct text label = { 0 };
	size_t frames = profile_frame_count(profile);

	labels->id_of_frame = xreallocarray(NULL, frames + 1, sizeof *labels->id_of_frame);
	labels->id_of_frame[0] = 0;
	for (uint32_t i = 1; i <= frames; i++) {
		uint32_t n = profile_get_frame(profile, (struct frame_id){ i })->function.n;
		text_clear(&label);
		add_label(&label, meaning_of_function(profile, n),
			  profile_get_info(profile)->has_full_names);
		labels->id_of_frame[i] = intern_add(&labels->interned, label.data, label.len);
	}
	for (uint32_t i = 0; meaning_has_states(profile) && i < THREAD_STATE_COUNT; i++) {
		text_clear(&label);
		meaning_add_state(&label, i);
		labels->id_of_state[i] = intern_add(&labels->interned, label.data, label.len);
	}
	rank_labels(labels, frames);
}

static void write_stacks(const struct calltree *tree, const struct labels *labels,
			 struct output *output)
{
	CLEANUP(freep)
	uint32_t *path = xreallocarray(NULL, calltree_depth(tree) + 1, sizeof *path);

	for (uint32_t node = 1; node < tree->node_count; node++) {
		if (tree->nodes[node].self_ns == 0)
			continue;
		size_t depth = calltree_path(tree, node, path);
		for (size_t i = 0; i < depth; i++) {
			uint32_t id = labels->id_of_rank[tree->nodes[path[i]].key];
			text_add(&output->buffer, i > 0 ? ";" : "");
			text_add(&output->buffer, intern_get(&labels->interned, id, NULL));
		}
		text_addf(&output->buffer, " %" PRIu64 "\n", tree->nodes[node].self_ns);
		output_tick(output);
	}
}

int write_folded(const struct profile *profile, const struct sink *sink, struct error *err)
{
	struct output output = output_to(sink, err);
	struct labels labels = { 0 };
	struct calltree tree;

	make_labels(&labels, profile);
	calltree_init(&tree, profile,
		      &(struct calltree_terms){ .key_of_frame = labels.id_of_frame,
						.key_of_state = meaning_has_states(profile)
									? labels.id_of_state
									: NULL,
						.order = CALLTREE_BY_KEY });
	write_stacks(&tree, &labels, &output);
	calltree_done(&tree);
	free(labels.id_of_frame);
	free(labels.id_of_rank);
	intern_done(&labels.interned);
	return output_done(&output);
}
