/*
 * Computes self and total times. Stacks are a prefix tree whose parents have smaller ids than
 * their children. So one pass from the last id to the first sums every subtree, and one walk
 * over the tree, counting how often each row is on the path, finds each row's outermost nodes:
 * only their subtrees count for the row's total.
 */
#include "profile/totals.h"

#include "base/memory.h"
#include "profile/filter.h"
#include "profile/profile.h"
#include "profile/sum.h"

/* All arrays are indexed by stack id; 0 is the root above every outermost frame. */
struct walk {
	uint32_t *row;
	uint32_t *parent;
	uint32_t *first_child;
	uint32_t *next_sibling;
	uint64_t *ns, *raw_ns;
	uint64_t *samples;
	uint64_t *calls; /* of the node alone */
	size_t count;    /* including the root */
};

static void walk_init(struct walk *walk, const struct profile *profile,
		      const uint32_t *row_of_frame)
{
	walk->count = profile_stack_count(profile) + 1;
	walk->row = xreallocarray(NULL, walk->count, sizeof *walk->row);
	walk->parent = xreallocarray(NULL, walk->count, sizeof *walk->parent);
	walk->first_child = xzalloc(walk->count * sizeof *walk->first_child);
	walk->next_sibling = xzalloc(walk->count * sizeof *walk->next_sibling);
	walk->ns = xzalloc(walk->count * sizeof *walk->ns);
	walk->raw_ns = xzalloc(walk->count * sizeof *walk->raw_ns);
	walk->samples = xzalloc(walk->count * sizeof *walk->samples);
	walk->calls = xzalloc(walk->count * sizeof *walk->calls);
	walk->row[0] = 0;
	walk->parent[0] = 0;
	for (uint32_t id = 1; id < walk->count; id++) {
		const struct stack *stack = profile_get_stack(profile, (struct stack_id){ id });
		walk->row[id] = row_of_frame[stack->frame.n - 1];
		walk->parent[id] = stack->parent.n;
	}
	/* From the last to the first, so that siblings are in the order of their ids. */
	for (uint32_t id = (uint32_t)walk->count - 1; id > 0; id--) {
		uint32_t parent = walk->parent[id];
		walk->next_sibling[id] = walk->first_child[parent];
		walk->first_child[parent] = id;
	}
}

static void walk_done(struct walk *walk)
{
	freep(&walk->row);
	freep(&walk->parent);
	freep(&walk->first_child);
	freep(&walk->next_sibling);
	freep(&walk->ns);
	freep(&walk->raw_ns);
	freep(&walk->samples);
	freep(&walk->calls);
}

static void add_weights(struct walk *walk, const struct profile *profile,
			const struct filter *filter, struct totals *out)
{
	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);
		if (!filter_keeps(filter, weight))
			continue;
		uint32_t id = weight->stack.n;
		struct cost *row = &out->rows[walk->row[id]];
		const struct call_times times = profile_get_call_times(profile, i);
		call_times_add(&row->times, &times, &out->is_saturated);
		sum_add(&walk->raw_ns[id], times.raw_ns, &out->is_saturated);
		sum_add(&walk->ns[id], weight->ns, &out->is_saturated);
		sum_add(&walk->samples[id], weight->samples, &out->is_saturated);
		sum_add(&row->self_ns, weight->ns, &out->is_saturated);
		sum_add(&row->self_samples, weight->samples, &out->is_saturated);
		sum_add(&walk->calls[id], weight->calls, &out->is_saturated);
		sum_add(&row->calls, weight->calls, &out->is_saturated);
	}
}

static void sum_subtrees(struct walk *walk, bool *is_saturated)
{
	for (size_t id = walk->count - 1; id > 0; id--) {
		uint32_t parent = walk->parent[id];
		sum_add(&walk->ns[parent], walk->ns[id], is_saturated);
		sum_add(&walk->raw_ns[parent], walk->raw_ns[id], is_saturated);
		sum_add(&walk->samples[parent], walk->samples[id], is_saturated);
	}
}

/* The next node in depth-first order; nodes that are left are removed from on_path. */
static uint32_t next_node(const struct walk *walk, uint32_t id, uint32_t *on_path)
{
	if (walk->first_child[id])
		return walk->first_child[id];
	while (id) {
		on_path[walk->row[id]]--;
		if (walk->next_sibling[id])
			return walk->next_sibling[id];
		id = walk->parent[id];
	}
	return 0;
}

static void add_outermost(const struct walk *walk, struct totals *out)
{
	uint32_t *on_path = xzalloc((out->count + 1) * sizeof *on_path);

	for (uint32_t id = walk->first_child[0]; id; id = next_node(walk, id, on_path)) {
		struct cost *row = &out->rows[walk->row[id]];
		if (on_path[walk->row[id]]++ > 0)
			continue;
		sum_add(&row->total_ns, walk->ns[id], &out->is_saturated);
		sum_add(&row->raw_total_ns, walk->raw_ns[id], &out->is_saturated);
		sum_add(&row->total_samples, walk->samples[id], &out->is_saturated);
		sum_add(&row->primitive_calls, walk->calls[id], &out->is_saturated);
	}
	freep(&on_path);
}

static void find_intervals(const struct walk *walk, const struct profile *profile,
			   const struct filter *filter, struct totals *out)
{
	CLEANUP(freep)
	struct intervals *rows = xzalloc((out->count + 1) * sizeof *rows);

	if (profile_is_trace(profile))
		return;
	intervals_find(
		&(struct interval_terms){
			.profile = profile,
			.filter = filter,
			.parents = walk->parent,
			.rows = walk->row,
			.place_count = walk->count,
			.row_count = out->count,
		},
		rows);
	for (size_t i = 0; i < out->count; i++) {
		out->rows[i].intervals = rows[i];
		out->rows[i].has_intervals = true;
	}
}

void totals_by_row(const struct profile *profile, const struct filter *filter,
		   const uint32_t *row_of_frame, size_t row_count, struct totals *out)
{
	struct walk walk;

	*out = (struct totals){ .rows = xzalloc((row_count + 1) * sizeof *out->rows),
				.count = row_count,
				.is_saturated = profile_is_saturated(profile) };
	for (size_t i = 0; i < row_count; i++)
		out->rows[i].times = CALL_TIMES_NONE;
	walk_init(&walk, profile, row_of_frame);
	add_weights(&walk, profile, filter, out);
	sum_subtrees(&walk, &out->is_saturated);
	add_outermost(&walk, out);
	find_intervals(&walk, profile, filter, out);
	out->ns = walk.ns[0];
	out->samples = walk.samples[0];
	walk_done(&walk);
}

void totals_by_function(const struct profile *profile, const struct filter *filter,
			struct totals *out)
{
	size_t count = profile_frame_count(profile);
	CLEANUP(freep)
	uint32_t *row_of_frame = xreallocarray(NULL, count + 1, sizeof *row_of_frame);

	for (uint32_t i = 0; i < count; i++)
		row_of_frame[i] =
			profile_get_frame(profile, (struct frame_id){ i + 1 })->function.n - 1;
	totals_by_row(profile, filter, row_of_frame, profile_function_count(profile), out);
}

void totals_done(struct totals *totals)
{
	freep(&totals->rows);
	*totals = (struct totals){ 0 };
}
