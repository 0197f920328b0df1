/* Finds which packages are between own functions, and with how many frames. */
#include "profile/hot_paths_internal.h"

#include "base/memory.h"
#include "profile/packages.h"

static bool is_entry(const struct hot_builder *builder, uint32_t stack, uint32_t node)
{
	const struct stack *at =
		profile_get_stack(builder->profile, (struct stack_id){ stack });
	const struct hot_paths *paths = builder->paths;
	const uint32_t above = builder->node_of[at->parent.n];

	return paths->nodes[node].kind == HOT_OWN && paths->nodes[node].parent == above &&
	       above && !hot_kind_is_own(paths->nodes[above].kind);
}

/* Counts the frames between the stack, which is own code, and its nearest own caller. */
static void count_passed(struct hot_builder *builder, struct hot_node *node, uint32_t stack)
{
	struct table frames_of = { 0 }; /* package: frames */
	uint64_t most[HOT_PASSED_MAX] = { 0 };
	uint64_t package, count;
	size_t cursor = 0;

	for (uint32_t at =
		     profile_get_stack(builder->profile, (struct stack_id){ stack })->parent.n;
	     at && builder->node_of[at] == node->parent;) {
		const struct stack *caller =
			profile_get_stack(builder->profile, (struct stack_id){ at });
		const struct frame *frame = profile_get_frame(builder->profile, caller->frame);

		++*table_at(&frames_of, 0, packages_of(builder->packages, frame->function),
			    NULL);
		node->passed_frames++;
		at = caller->parent.n;
	}
	for (uint64_t hi; table_next(&frames_of, &cursor, &hi, &package, &count);) {
		size_t place = HOT_PASSED_MAX;

		while (place > 0 &&
		       (count > most[place - 1] ||
			(count == most[place - 1] && package < node->passed[place - 1])))
			place--;
		for (size_t i = HOT_PASSED_MAX; i-- > place + 1;) {
			most[i] = most[i - 1];
			node->passed[i] = node->passed[i - 1];
		}
		if (place < HOT_PASSED_MAX) {
			most[place] = count;
			node->passed[place] = (uint32_t)package;
		}
	}
	table_done(&frames_of);
}

void hot_find_passed(struct hot_builder *builder)
{
	struct hot_paths *paths = builder->paths;

	/* By node: the time of the heaviest stack that entered it, and that stack. */
	CLEANUP(freep) uint64_t *entry_ns = xzalloc(paths->count * sizeof *entry_ns);
	CLEANUP(freep) uint32_t *entry = xzalloc(paths->count * sizeof *entry);

	for (uint32_t i = 1; i <= builder->stacks; i++) {
		const uint32_t node = builder->node_of[i];

		if (builder->total_ns[i] > entry_ns[node] && is_entry(builder, i, node)) {
			entry_ns[node] = builder->total_ns[i];
			entry[node] = i;
		}
	}
	for (size_t i = 1; i < paths->count; i++) {
		if (entry[i])
			count_passed(builder, &paths->nodes[i], entry[i]);
	}
}
