/*
 * callgrind - writes the format of valgrind's callgrind, for KCachegrind, QCachegrind and
 * callgrind_annotate.
 *
 * https://valgrind.org/docs/manual/cl-format.html, version 1: a block for each function, with
 * its own cost, and for each callee the number of calls and their inclusive cost. The cost is
 * time in nanoseconds. A trace contains where a function begins, but not from which of its
 * lines it calls: costs and calls are given on its first line.
 *
 * Viewers distinguish functions by name, file and module. If all three are equal (two lambdas,
 * methods of two classes in a Python version that does not name the class), the line is
 * appended to the name.
 */
#include "export/formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "export/call_graph.h"
#include "export/meaning.h"
#include "export/output.h"
#include "profile/profile.h"

/* The format's name for an unknown file. */
#define UNKNOWN "???"

struct callgrind {
	const struct profile *profile;
	struct output *output;
	struct call_graph graph;
	/* Names are written once with a number, "(1) main.c", and then as "(1)". */
	struct intern files, modules, names;
	struct intern places;  /* name, file and module */
	uint32_t *label_count; /* by place: how many functions have it */
	uint32_t *place_of_label;
};

static const char *file_of(const struct function *function)
{
	return function->file ? function->file : UNKNOWN;
}

/* An interpreted function has no module: its language is used. */
static const char *module_of(const struct profile *profile, const struct function *function)
{
	const char *module = meaning_of_module(profile, function);

	return module ? module : language_name(function->language);
}

static void add_place(struct text *key, const struct profile *profile,
		      const struct function *function)
{
	text_add(key, meaning_of_name(function));
	text_add_bytes(key, "\0", 1);
	text_add(key, file_of(function));
	text_add_bytes(key, "\0", 1);
	text_add(key, module_of(profile, function));
}

static bool add_key(struct text *key, const struct profile *profile,
		    const struct function *function)
{
	add_place(key, profile, function);
	text_addf(key, " %u %u", function->line, (unsigned int)function->language);
	return true;
}

static const struct function *function_of(const struct callgrind *it, uint32_t label)
{
	return profile_get_function(it->profile, it->graph.labels[label - 1].function);
}

/* Counts how many functions have the same name, file and module. */
static void count_places(struct callgrind *it)
{
	const size_t count = it->graph.label_count + 1;
	CLEANUP(text_done) struct text key = { 0 };

	it->label_count = xzalloc((count + 1) * sizeof *it->label_count);
	it->place_of_label = xzalloc((count + 1) * sizeof *it->place_of_label);
	for (uint32_t label = 1; label < count; label++) {
		text_clear(&key);
		add_place(&key, it->profile, function_of(it, label));
		const uint32_t place = intern_add(&it->places, key.data, key.len);

		it->place_of_label[label] = place;
		it->label_count[place]++;
	}
}

/* Writes "fl=(3) app.py", or "fl=(3)" if that name was written before. */
static void put_name(struct callgrind *it, const char *word, struct intern *known,
		     const char *name)
{
	struct text *out = &it->output->buffer;
	uint32_t last = (uint32_t)known->count;
	const uint32_t number = intern_add(known, name, strlen(name));

	text_addf(out, "%s=(%" PRIu32 ")", word, number);
	if (number > last) {
		text_add(out, " ");
		text_add_printable(out, name, strlen(name));
	}
	text_add(out, "\n");
}

static void put_function(struct callgrind *it, uint32_t label, bool is_called)
{
	const struct function *function = function_of(it, label);
	CLEANUP(text_done) struct text name = { 0 };

	text_add(&name, meaning_of_name(function));
	if (it->label_count[it->place_of_label[label]] > 1)
		text_addf(&name, " :%" PRIu32, function->line);
	put_name(it, is_called ? "cob" : "ob", &it->modules, module_of(it->profile, function));
	put_name(it, is_called ? "cfi" : "fl", &it->files, file_of(function));
	put_name(it, is_called ? "cfn" : "fn", &it->names, text_string(&name));
}

static void put_label(struct callgrind *it, uint32_t number)
{
	struct text *out = &it->output->buffer;
	const struct label *label = &it->graph.labels[number - 1];
	const uint32_t line = function_of(it, number)->line;

	text_add(out, "\n");
	put_function(it, number, false);
	text_addf(out, "%" PRIu32 " %" PRIu64 "\n", line, label->figures.self_ns);
	for (uint32_t i = label->first_callee; i != 0;) {
		const struct edge *edge = &it->graph.edges[i - 1];

		i = edge->next_of_caller;
		if (edge->figures.calls == 0)
			continue;
		put_function(it, edge->callee, true);
		text_addf(out, "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32 " %" PRIu64 "\n",
			  edge->figures.calls, function_of(it, edge->callee)->line, line,
			  edge->figures.total_ns);
	}
	output_tick(it->output);
}

static void put_head(struct callgrind *it)
{
	const struct profile_info *info = profile_get_info(it->profile);
	struct text *out = &it->output->buffer;
	uint64_t total_ns = 0;

	for (size_t i = 0; i < it->graph.label_count; i++)
		total_ns += it->graph.labels[i].figures.self_ns;
	text_addf(out, "# callgrind format\nversion: 1\ncreator: fathom %s\n",
		  info->fathom_version ? info->fathom_version : "");
	text_add(out, "cmd:");
	for (size_t i = 0; i < info->command_count; i++) {
		text_add(out, " ");
		text_add_printable(out, info->command[i], strlen(info->command[i]));
	}
	text_addf(out,
		  "\npositions: line\nevent: ns : %s time in nanoseconds\nevents: ns\n"
		  "summary: %" PRIu64 "\n",
		  info->clock && strcmp(info->clock, "cpu") == 0 ? "CPU" : "Wall clock",
		  total_ns);
}

static void callgrind_done(struct callgrind *it)
{
	call_graph_done(&it->graph);
	intern_done(&it->files);
	intern_done(&it->modules);
	intern_done(&it->names);
	intern_done(&it->places);
	free(it->label_count);
	free(it->place_of_label);
}

int write_callgrind(const struct profile *profile, const struct sink *sink, struct error *err)
{
	const struct call_graph_terms terms = { .format = "callgrind", .add_key = add_key };
	struct output output = output_to(sink, err);
	struct callgrind it = { .profile = profile, .output = &output };
	const int rc = call_graph_make(&it.graph, profile, &terms, err);

	if (rc < 0)
		return rc;
	count_places(&it);
	put_head(&it);
	for (uint32_t label = 1; label <= it.graph.label_count; label++) {
		const struct figures *figures = &it.graph.labels[label - 1].figures;

		if (figures->calls != 0 || figures->total_ns != 0)
			put_label(&it, label);
	}
	callgrind_done(&it);
	return output_done(&output);
}
