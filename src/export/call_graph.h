/*
 * call_graph - the call graph of a trace: functions, and for each pair of caller and callee how
 * often; threads are summed.
 *
 * A call is primitive if it is not below another call of the same function; an edge's call if
 * it is not below another call of the same pair. Total times include only primitive calls, so
 * that nothing counts twice.
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

/* A callee as called by one caller. */
struct edge {
	uint32_t caller, callee; /* labels */
	uint32_t next_of_callee; /* next edge of the same callee; 0: none */
	uint32_t next_of_caller;
	uint32_t on_path;
	struct figures figures;
};

/* A function as a format distinguishes it. */
struct label {
	struct function_id function; /* the first function with this label */
	uint32_t first_caller;       /* first edge to it, */
	uint32_t first_callee;       /* and first edge from it */
	uint32_t on_path;
	struct figures figures;
};

/* Labels and edges are numbered from 1. */
struct call_graph {
	const struct profile *profile;
	struct intern keys;
	uint32_t *label_of_function; /* 0: none */
	struct label *labels;
	size_t label_count, label_capacity;
	struct edge *edges;
	size_t edge_count, edge_capacity;
	struct table edge_of; /* (caller, callee) to the edge */

	/* By stack id; 0 is the root above all. */
	uint64_t *self_ns, *total_ns, *calls;
	uint32_t *first_child, *next_sibling;
};

/* How a format distinguishes functions. */
struct call_graph_terms {
	const char *format;
	/*
	 * Adds the key of a function: those with equal keys are one label. False: the function
	 * gets no label.
	 */
	bool (*add_key)(struct text *key, const struct profile *profile,
			const struct function *function);
};

/*
 * -EINVAL and a sentence for a recording of samples, which has no counts of calls. Else 0:
 * release with call_graph_done().
 */
int call_graph_make(struct call_graph *graph, const struct profile *profile,
		    const struct call_graph_terms *terms, struct error *err);
void call_graph_done(struct call_graph *graph);
