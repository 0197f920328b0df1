/*
 * call_graph - which function calls which in a trace, and how often: functions, and each two of them that
 * call one another, threads summed.
 *
 * A call is primitive that is not below another of the same function; of a caller's calls,
 * below another call of the same two.  Total times count those only, so that nothing counts
 * twice.
 *
 * Inside export/ only.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "profile/profile.h"

struct error;
struct text;

struct figures {
	uint64_t calls, primitive_calls, self_ns, total_ns;
};

/* One function as another one calls it. */
struct edge {
	uint32_t caller, callee; /* labels */
	uint32_t next_of_callee; /* 0: no more */
	uint32_t next_of_caller;
	uint32_t on_path;
	struct figures figures;
};

/* What a format takes for one function. */
struct label {
	struct function_id function; /* the first that has it */
	uint32_t first_caller;       /* edges: those of its callers, */
	uint32_t first_callee;       /* and of what it calls */
	uint32_t on_path;
	struct figures figures;
};

/* Labels and edges count from 1. */
struct call_graph {
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

/* What a format of calls distinguishes functions by. */
struct call_graph_terms {
	const char *format;
	/*
	 * Adds what distinguishes a function from others: functions with the same bytes are one, and
	 * one for which it returns false is none.
	 */
	bool (*add_key)(struct text *key, const struct profile *profile,
			const struct function *function);
};

/*
 * Of a recording of samples -EINVAL, and a sentence: its calls were not counted.  Else 0, and it ends
 * with call_graph_done().
 */
int call_graph_make(struct call_graph *graph, const struct profile *profile,
		    const struct call_graph_terms *terms, struct error *err);
void call_graph_done(struct call_graph *graph);
