/*
 * pstats - writes the format of Python's pstats, also read by SnakeViz, gprof2dot and tuna.
 *
 * A marshalled dict (Python/marshal.c) from each function's (file, line, name) to
 *
 *	(primitive calls, calls, self time, total time, {caller: (calls, primitive calls, self, total)})
 *
 * in seconds, summed over threads.  Keys are as in cProfile: a C function is ('~', 0, '<built-in
 * method math.sin>').  Functions with equal keys are merged.  Primitive calls and total times
 * are defined in call_graph.h.
 */
#include "export/formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "export/call_graph.h"
#include "export/output.h"
#include "profile/profile.h"

#define NS_PER_SECOND 1e9

/* Bracketed rows and native functions are not functions to Python's profilers. */
static bool has_label(const struct function *function)
{
	return function->language == LANGUAGE_PYTHON || function->language == LANGUAGE_RUBY;
}

static const char *plain_name(const struct function *function)
{
	return function->plain_name ? function->plain_name : function->name;
}

static bool add_key(struct text *text, const struct profile *profile,
		    const struct function *function)
{
	(void)profile;
	if (!has_label(function))
		return false;
	text_addf(text, "%u ", function->file ? function->line : 0);
	text_add(text, function->file ? function->file : "~");
	text_add_bytes(text, "\0", 1);
	text_add(text, plain_name(function));
	return true;
}

/* Marshal format: a letter for the type and the value, little-endian. */
static void put_u32(struct text *out, uint32_t value)
{
	const uint8_t bytes[] = { (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
				  (uint8_t)(value >> 24) };

	text_add_bytes(out, bytes, sizeof bytes);
}

static void put_tuple(struct text *out, uint32_t count)
{
	text_add(out, "(");
	put_u32(out, count);
}

static void put_string(struct text *out, const char *string)
{
	CLEANUP(text_done) struct text utf8 = { 0 };

	text_add_utf8(&utf8, string, strlen(string));
	text_add(out, "u");
	put_u32(out, (uint32_t)utf8.len);
	text_add_bytes(out, text_string(&utf8), utf8.len);
}

/* Writes an int as 32 bits, or else in digits of 15 bits. */
static void put_int(struct text *out, uint64_t value)
{
	uint32_t digits = 0;

	if (value <= INT32_MAX) {
		text_add(out, "i");
		put_u32(out, (uint32_t)value);
		return;
	}
	for (uint64_t left = value; left != 0; left >>= 15)
		digits++;
	text_add(out, "l");
	put_u32(out, digits);
	for (; value != 0; value >>= 15) {
		const uint8_t bytes[] = { (uint8_t)value, (uint8_t)(value >> 8 & 0x7f) };

		text_add_bytes(out, bytes, sizeof bytes);
	}
}

static void put_seconds(struct text *out, uint64_t ns)
{
	const double seconds = (double)ns / NS_PER_SECOND;
	uint64_t bits;

	memcpy(&bits, &seconds, sizeof bits);
	text_add(out, "g");
	put_u32(out, (uint32_t)bits);
	put_u32(out, (uint32_t)(bits >> 32));
}

static void put_label(struct text *out, const struct call_graph *graph, uint32_t label)
{
	const struct function *function =
		profile_get_function(graph->profile, graph->labels[label - 1].function);

	put_tuple(out, 3);
	put_string(out, function->file ? function->file : "~");
	put_int(out, function->file ? function->line : 0);
	put_string(out, plain_name(function));
}

static void put_callers(struct text *out, const struct call_graph *graph, uint32_t first_caller)
{
	text_add(out, "{");
	for (uint32_t i = first_caller; i != 0; i = graph->edges[i - 1].next_of_callee) {
		const struct edge *edge = &graph->edges[i - 1];

		put_label(out, graph, edge->caller);
		put_tuple(out, 4);
		put_int(out, edge->figures.calls);
		put_int(out, edge->figures.primitive_calls);
		put_seconds(out, edge->figures.self_ns);
		put_seconds(out, edge->figures.total_ns);
	}
	text_add(out, "0");
}

static void write_stats(const struct call_graph *graph, struct output *output)
{
	struct text *out = &output->buffer;

	text_add(out, "{");
	for (uint32_t label = 1; label <= graph->label_count; label++) {
		const struct label *row = &graph->labels[label - 1];

		/*
		 * Skips functions whose calls were filtered out, or are missing in an older
		 * recording.
		 */
		if (row->figures.calls == 0 && row->figures.total_ns == 0)
			continue;
		put_label(out, graph, label);
		put_tuple(out, 5);
		put_int(out, row->figures.primitive_calls);
		put_int(out, row->figures.calls);
		put_seconds(out, row->figures.self_ns);
		put_seconds(out, row->figures.total_ns);
		put_callers(out, graph, row->first_caller);
		output_tick(output);
	}
	text_add(out, "0");
}

int write_pstats(const struct profile *profile, const struct sink *sink, struct error *err)
{
	const struct call_graph_terms terms = { .format = "pstats", .add_key = add_key };
	struct output output = output_to(sink, err);
	struct call_graph graph;
	const int rc = call_graph_make(&graph, profile, &terms, err);

	if (rc < 0)
		return rc;
	if (graph.label_count == 0) {
		call_graph_done(&graph);
		return error_set(err, -EINVAL,
				 "pstats takes Python's and Ruby's functions only, and this "
				 "recording has none: -f callgrind takes native ones, too");
	}
	write_stats(&graph, &output);
	call_graph_done(&graph);
	return output_done(&output);
}
