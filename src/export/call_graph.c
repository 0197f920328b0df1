#include "export/call_graph.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

static void make_labels(struct call_graph *graph,
			bool (*add_key)(struct text *key, const struct profile *profile,
					const struct function *function))
{
	const size_t count = profile_function_count(graph->profile);
	CLEANUP(text_done) struct text key = { 0 };

	graph->label_of_function = xzalloc((count + 1) * sizeof *graph->label_of_function);
	for (uint32_t id = 1; id <= count; id++) {
		const struct function *function =
			profile_get_function(graph->profile, (struct function_id){ id });

		text_clear(&key);
		if (!add_key(&key, graph->profile, function))
			continue;
		const uint32_t label = intern_add(&graph->keys, key.data, key.len);

		graph->label_of_function[id] = label;
		if (label <= graph->label_count)
			continue;
		graph->labels = array_grow(graph->labels, graph->label_count,
					   &graph->label_capacity, sizeof *graph->labels);
		graph->labels[graph->label_count++] = (struct label){ .function = { id } };
	}
}

static uint32_t label_of_stack(const struct call_graph *graph, uint32_t stack)
{
	if (stack == 0)
		return 0;
	const struct stack *row = profile_get_stack(graph->profile, (struct stack_id){ stack });
	const struct frame *frame = profile_get_frame(graph->profile, row->frame);

	return graph->label_of_function[frame->function.n];
}

static void read_weights(struct call_graph *graph)
{
	const size_t count = profile_stack_count(graph->profile) + 1;

	graph->self_ns = xzalloc(count * sizeof *graph->self_ns);
	graph->total_ns = xzalloc(count * sizeof *graph->total_ns);
	graph->calls = xzalloc(count * sizeof *graph->calls);
	graph->first_child = xzalloc(count * sizeof *graph->first_child);
	graph->next_sibling = xzalloc(count * sizeof *graph->next_sibling);
	for (size_t i = 0; i < profile_weight_count(graph->profile); i++) {
		const struct weight *weight = profile_get_weight(graph->profile, i);

		graph->self_ns[weight->stack.n] += weight->ns;
		graph->calls[weight->stack.n] += weight->calls;
	}
	/* A parent's id is smaller than its children's. */
	for (uint32_t id = (uint32_t)count - 1; id > 0; id--) {
		const struct stack *stack =
			profile_get_stack(graph->profile, (struct stack_id){ id });

		graph->total_ns[id] += graph->self_ns[id];
		graph->total_ns[stack->parent.n] += graph->total_ns[id];
		graph->next_sibling[id] = graph->first_child[stack->parent.n];
		graph->first_child[stack->parent.n] = id;
	}
}

static struct edge *edge_at(struct call_graph *graph, uint32_t caller, uint32_t callee)
{
	bool is_new;
	uint64_t *place = table_at(&graph->edge_of, caller, callee, &is_new);

	if (is_new) {
		struct label *to = &graph->labels[callee - 1];
		struct label *from = &graph->labels[caller - 1];

		graph->edges = array_grow(graph->edges, graph->edge_count,
					  &graph->edge_capacity, sizeof *graph->edges);
		graph->edges[graph->edge_count++] =
			(struct edge){ .caller = caller,
				       .callee = callee,
				       .next_of_callee = to->first_caller,
				       .next_of_caller = from->first_callee };
		*place = graph->edge_count;
		to->first_caller = from->first_callee = (uint32_t)*place;
	}
	return &graph->edges[*place - 1];
}

static void add_figures(const struct call_graph *graph, uint32_t stack, bool is_primitive,
			struct figures *figures)
{
	figures->calls += graph->calls[stack];
	figures->self_ns += graph->self_ns[stack];
	if (!is_primitive)
		return;
	figures->primitive_calls += graph->calls[stack];
	figures->total_ns += graph->total_ns[stack];
}

/* Called as the walk enters a stack (step 1) or leaves it (step -1). */
static void visit(struct call_graph *graph, uint32_t stack, int step)
{
	const uint32_t label = label_of_stack(graph, stack);
	const uint32_t parent =
		profile_get_stack(graph->profile, (struct stack_id){ stack })->parent.n;
	const uint32_t caller = label_of_stack(graph, parent);

	if (label == 0)
		return;
	struct label *own = &graph->labels[label - 1];

	if (step > 0)
		add_figures(graph, stack, own->on_path == 0, &own->figures);
	own->on_path += (uint32_t)step;
	if (caller == 0)
		return;
	struct edge *edge = edge_at(graph, caller, label);

	if (step > 0)
		add_figures(graph, stack, edge->on_path == 0, &edge->figures);
	edge->on_path += (uint32_t)step;
}

/* Depth first, without recursion: stacks may be very deep. */
static void walk(struct call_graph *graph)
{
	uint32_t id = graph->first_child[0];

	while (id) {
		visit(graph, id, 1);
		if (graph->first_child[id]) {
			id = graph->first_child[id];
			continue;
		}
		while (id) {
			visit(graph, id, -1);
			if (graph->next_sibling[id])
				break;
			id = profile_get_stack(graph->profile, (struct stack_id){ id })
				     ->parent.n;
		}
		if (id)
			id = graph->next_sibling[id];
	}
}

int call_graph_make(struct call_graph *graph, const struct profile *profile,
		    const struct call_graph_terms *terms, struct error *err)
{
	if (!profile_is_trace(profile))
		return error_set(err, -EINVAL,
				 "%s needs counted calls, and this recording has samples: "
				 "'fathom trace' counts calls",
				 terms->format);
	*graph = (struct call_graph){ .profile = profile };
	make_labels(graph, terms->add_key);
	read_weights(graph);
	walk(graph);
	return 0;
}

void call_graph_done(struct call_graph *graph)
{
	intern_done(&graph->keys);
	table_done(&graph->edge_of);
	free(graph->label_of_function);
	free(graph->labels);
	free(graph->edges);
	free(graph->self_ns);
	free(graph->total_ns);
	free(graph->calls);
	free(graph->first_child);
	free(graph->next_sibling);
}
