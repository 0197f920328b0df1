/*
 * pstats - what Python's own pstats reads, and what reads the same: SnakeViz, gprof2dot, tuna.
 *
 * A dict, marshalled (Python/marshal.c): (file, line, name) of each function to
 *
 *	(primitive calls, calls, self time, total time, {caller: (calls, primitive calls, self, total)})
 *
 * in seconds, threads summed.  Keys are those of cProfile: a C function is ('~', 0, '<built-in
 * method math.sin>').  Functions that have the same key are one.
 *
 * A call is primitive that is not below another of the same function; of a caller's calls, below
 * another call of the same two.  Total times count those only, so that nothing counts twice.
 */
#include "export/formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "export/output.h"
#include "profile/profile.h"

#define NS_PER_SECOND 1e9

struct figures {
	uint64_t calls, primitive_calls, self_ns, total_ns;
};

/* One function as another one calls it. */
struct edge {
	uint32_t caller, callee; /* labels */
	uint32_t next;           /* of the callee's; 0: no more */
	uint32_t on_path;
	struct figures figures;
};

struct label {
	struct function_id function; /* the first that has it */
	uint32_t first_edge;         /* of its callers */
	uint32_t on_path;
	struct figures figures;
};

/* Labels and edges count from 1. */
struct stats {
	const struct profile *profile;
	struct intern keys;
	uint32_t *label_of_function; /* 0: it has none */
	struct label *labels;
	size_t label_count, label_capacity;
	struct edge *edges;
	size_t edge_count, edge_capacity;
	struct table edge_of; /* of two labels */

	/* By stack id, 0 being above all. */
	uint64_t *self_ns, *total_ns, *calls;
	uint32_t *first_child, *next_sibling;
};

/* Rows in brackets are no functions, and neither is what no interpreter calls. */
static bool has_label(const struct function *function)
{
	return function->language == LANGUAGE_PYTHON || function->language == LANGUAGE_RUBY;
}

static const char *plain_name(const struct function *function)
{
	return function->plain_name ? function->plain_name : function->name;
}

static void add_key(struct text *text, const struct function *function)
{
	text_addf(text, "%u ", function->file ? function->line : 0);
	text_add(text, function->file ? function->file : "~");
	text_add_bytes(text, "\0", 1);
	text_add(text, plain_name(function));
}

static void make_labels(struct stats *stats)
{
	const size_t count = profile_function_count(stats->profile);
	CLEANUP(text_done) struct text key = { 0 };

	stats->label_of_function = xzalloc((count + 1) * sizeof *stats->label_of_function);
	for (uint32_t id = 1; id <= count; id++) {
		const struct function *function =
			profile_get_function(stats->profile, (struct function_id){ id });

		if (!has_label(function))
			continue;
		text_clear(&key);
		add_key(&key, function);
		const uint32_t label = intern_add(&stats->keys, key.data, key.len);

		stats->label_of_function[id] = label;
		if (label <= stats->label_count)
			continue;
		stats->labels = array_grow(stats->labels, stats->label_count,
					   &stats->label_capacity, sizeof *stats->labels);
		stats->labels[stats->label_count++] = (struct label){ .function = { id } };
	}
}

static uint32_t label_of_stack(const struct stats *stats, uint32_t stack)
{
	if (stack == 0)
		return 0;
	const struct stack *row = profile_get_stack(stats->profile, (struct stack_id){ stack });
	const struct frame *frame = profile_get_frame(stats->profile, row->frame);

	return stats->label_of_function[frame->function.n];
}

static void read_weights(struct stats *stats)
{
	const size_t count = profile_stack_count(stats->profile) + 1;

	stats->self_ns = xzalloc(count * sizeof *stats->self_ns);
	stats->total_ns = xzalloc(count * sizeof *stats->total_ns);
	stats->calls = xzalloc(count * sizeof *stats->calls);
	stats->first_child = xzalloc(count * sizeof *stats->first_child);
	stats->next_sibling = xzalloc(count * sizeof *stats->next_sibling);
	for (size_t i = 0; i < profile_weight_count(stats->profile); i++) {
		const struct weight *weight = profile_get_weight(stats->profile, i);

		stats->self_ns[weight->stack.n] += weight->ns;
		stats->calls[weight->stack.n] += weight->calls;
	}
	/* A parent's id is smaller than its children's. */
	for (uint32_t id = (uint32_t)count - 1; id > 0; id--) {
		const struct stack *stack =
			profile_get_stack(stats->profile, (struct stack_id){ id });

		stats->total_ns[id] += stats->self_ns[id];
		stats->total_ns[stack->parent.n] += stats->total_ns[id];
		stats->next_sibling[id] = stats->first_child[stack->parent.n];
		stats->first_child[stack->parent.n] = id;
	}
}

static struct edge *edge_at(struct stats *stats, uint32_t caller, uint32_t callee)
{
	bool is_new;
	uint64_t *place = table_at(&stats->edge_of, caller, callee, &is_new);

	if (is_new) {
		struct label *label = &stats->labels[callee - 1];

		stats->edges = array_grow(stats->edges, stats->edge_count,
					  &stats->edge_capacity, sizeof *stats->edges);
		stats->edges[stats->edge_count++] = (struct edge){ .caller = caller,
								   .callee = callee,
								   .next = label->first_edge };
		*place = label->first_edge = (uint32_t)stats->edge_count;
	}
	return &stats->edges[*place - 1];
}

static void add_figures(const struct stats *stats, uint32_t stack, bool is_primitive,
			struct figures *figures)
{
	figures->calls += stats->calls[stack];
	figures->self_ns += stats->self_ns[stack];
	if (!is_primitive)
		return;
	figures->primitive_calls += stats->calls[stack];
	figures->total_ns += stats->total_ns[stack];
}

/* The path comes to a stack, or leaves it (step is 1 or -1). */
static void visit(struct stats *stats, uint32_t stack, int step)
{
	const uint32_t label = label_of_stack(stats, stack);
	const uint32_t parent =
		profile_get_stack(stats->profile, (struct stack_id){ stack })->parent.n;
	const uint32_t caller = label_of_stack(stats, parent);

	if (label == 0)
		return;
	struct label *own = &stats->labels[label - 1];

	if (step > 0)
		add_figures(stats, stack, own->on_path == 0, &own->figures);
	own->on_path += (uint32_t)step;
	if (caller == 0)
		return;
	struct edge *edge = edge_at(stats, caller, label);

	if (step > 0)
		add_figures(stats, stack, edge->on_path == 0, &edge->figures);
	edge->on_path += (uint32_t)step;
}

/* Depth first, without recursion: stacks may be very deep. */
static void walk(struct stats *stats)
{
	uint32_t id = stats->first_child[0];

	while (id) {
		visit(stats, id, 1);
		if (stats->first_child[id]) {
			id = stats->first_child[id];
			continue;
		}
		while (id) {
			visit(stats, id, -1);
			if (stats->next_sibling[id])
				break;
			id = profile_get_stack(stats->profile, (struct stack_id){ id })
				     ->parent.n;
		}
		if (id)
			id = stats->next_sibling[id];
	}
}

/* Marshal: a letter and what it is of, in little-endian order. */
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

/* An int of 32 bits, or digits of 15. */
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

static void put_label(struct text *out, const struct stats *stats, uint32_t label)
{
	const struct function *function =
		profile_get_function(stats->profile, stats->labels[label - 1].function);

	put_tuple(out, 3);
	put_string(out, function->file ? function->file : "~");
	put_int(out, function->file ? function->line : 0);
	put_string(out, plain_name(function));
}

static void put_callers(struct text *out, const struct stats *stats, uint32_t first_edge)
{
	text_add(out, "{");
	for (uint32_t i = first_edge; i != 0; i = stats->edges[i - 1].next) {
		const struct edge *edge = &stats->edges[i - 1];

		put_label(out, stats, edge->caller);
		put_tuple(out, 4);
		put_int(out, edge->figures.calls);
		put_int(out, edge->figures.primitive_calls);
		put_seconds(out, edge->figures.self_ns);
		put_seconds(out, edge->figures.total_ns);
	}
	text_add(out, "0");
}

static void write_stats(const struct stats *stats, struct output *output)
{
	struct text *out = &output->buffer;

	text_add(out, "{");
	for (uint32_t label = 1; label <= stats->label_count; label++) {
		const struct label *row = &stats->labels[label - 1];

		/* Functions whose calls a filter or an older recording does not have. */
		if (row->figures.calls == 0 && row->figures.total_ns == 0)
			continue;
		put_label(out, stats, label);
		put_tuple(out, 5);
		put_int(out, row->figures.primitive_calls);
		put_int(out, row->figures.calls);
		put_seconds(out, row->figures.self_ns);
		put_seconds(out, row->figures.total_ns);
		put_callers(out, stats, row->first_edge);
		output_tick(output);
	}
	text_add(out, "0");
}

static void stats_done(struct stats *stats)
{
	intern_done(&stats->keys);
	table_done(&stats->edge_of);
	free(stats->label_of_function);
	free(stats->labels);
	free(stats->edges);
	free(stats->self_ns);
	free(stats->total_ns);
	free(stats->calls);
	free(stats->first_child);
	free(stats->next_sibling);
}

int write_pstats(const struct profile *profile, const struct sink *sink, struct error *err)
{
	struct output output = output_to(sink, err);
	struct stats stats = { .profile = profile };

	if (!profile_is_trace(profile))
		return error_set(err, -EINVAL,
				 "pstats is of calls that were counted, and this recording has "
				 "samples: 'fathom trace' makes one that has them");
	make_labels(&stats);
	read_weights(&stats);
	walk(&stats);
	write_stats(&stats, &output);
	stats_done(&stats);
	return output_done(&output);
}
