#include "profile/hot_paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "profile/filter.h"
#include "profile/packages.h"
#include "profile/profile.h"
#include "profile/states.h"
#include "profile/sum.h"

/* Places in the arrays are stack ids. */
struct builder {
	const struct profile *profile;
	const struct packages *packages;
	struct hot_paths *paths;
	struct table index; /* parent, kind and function: the node */
	uint32_t *node_of;  /* a stack's node */
	uint64_t *total_ns; /* of a stack and those below it */
	uint64_t *entry_ns; /* by node: of the heaviest stack that entered it, and that stack */
	uint32_t *entry;
};

static uint32_t wait_of(struct builder *builder, uint32_t parent, enum hot_kind kind,
			struct function_id function, struct function_id wait)
{
	struct hot_paths *paths = builder->paths;
	bool is_new;
	uint64_t *node = table_at(&builder->index, (uint64_t)parent << 8 | (uint64_t)kind,
				  (uint64_t)wait.n << 32 | function.n, &is_new);

	if (is_new) {
		paths->nodes = array_grow(paths->nodes, paths->count, &paths->capacity,
					  sizeof *paths->nodes);
		paths->nodes[paths->count] = (struct hot_node){
			.kind = kind, .function = function, .wait = wait, .parent = parent
		};
		*node = paths->count++;
	}
	return (uint32_t)*node;
}

static uint32_t child_of(struct builder *builder, uint32_t parent, enum hot_kind kind,
			 struct function_id function)
{
	return wait_of(builder, parent, kind, function, (struct function_id){ 0 });
}

/* The function's node at or above this one; 0: none. */
static uint32_t own_above(const struct hot_paths *paths, uint32_t node,
			  struct function_id function)
{
	for (; node; node = paths->nodes[node].parent) {
		const struct hot_node *at = &paths->nodes[node];

		if (at->kind == HOT_OWN && at->function.n == function.n)
			return node;
	}
	return 0;
}

static bool is_module_body(const struct function *function)
{
	return strcmp(function->name, "<module>") == 0 ||
	       strcmp(function->name, "<main>") == 0 ||
	       strcmp(function->name, "<top (required)>") == 0;
}

/* A module's code, that is: "import json". */
static bool is_import(const struct builder *builder, struct function_id id)
{
	const struct function *function = profile_get_function(builder->profile, id);

	return function->language == LANGUAGE_PYTHON &&
	       strncmp(function->name, "import ", strlen("import ")) == 0;
}

/* A library's Python that its own C calls first: numpy's fft below its dispatcher_vectorcall. */
static bool is_dispatched(const struct builder *builder, struct function_id outer,
			  struct function_id function)
{
	const struct profile *profile = builder->profile;

	return profile_get_function(profile, outer)->language == LANGUAGE_NATIVE &&
	       language_is_interpreted(profile_get_function(profile, function)->language) &&
	       packages_of(builder->packages, outer) ==
		       packages_of(builder->packages, function);
}

/* Its functions say less than what they wait for: C's, C++'s, and what languages wait with. */
static bool is_of_waiting(const struct builder *builder, struct function_id function)
{
	static const char *const names[] = { "libc.",     "libc-", "libpthread",
					     "libstdc++", "std",   "time",
					     "threading", "queue", "Ruby's core" };
	const char *name =
		packages_get(builder->packages, packages_of(builder->packages, function))->name;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

static bool is_call(const struct builder *builder, struct function_id function)
{
	return profile_is_wall(builder->profile) &&
	       profile_get_function(builder->profile, function)->language == LANGUAGE_KERNEL;
}

static uint32_t step_to_call(struct builder *builder, uint32_t parent, struct function_id call)
{
	const struct hot_node *at = &builder->paths->nodes[parent];
	const struct function_id none = { 0 };

	if (at->kind == HOT_IMPORT)
		return parent;
	if (at->kind != HOT_LIBRARY)
		return wait_of(builder, parent, HOT_LIBRARY, none, call);
	return wait_of(builder, at->parent, HOT_LIBRARY,
		       is_of_waiting(builder, at->function) ? none : at->function, call);
}

/* The node of a stack whose callers are at parent. */
static uint32_t step(struct builder *builder, uint32_t parent, struct function_id function)
{
	const struct hot_node *at = &builder->paths->nodes[parent];
	uint32_t node = own_above(builder->paths, parent, function);

	if (is_call(builder, function))
		return step_to_call(builder, parent, function);
	if (packages_is_own(builder->packages, function))
		return node ? node : child_of(builder, parent, HOT_OWN, function);
	if (at->kind == HOT_OWN || at->kind == HOT_ROOT)
		return child_of(builder, parent,
				is_import(builder, function) ? HOT_IMPORT : HOT_LIBRARY,
				function);
	if (at->kind == HOT_LIBRARY && is_dispatched(builder, at->function, function))
		return child_of(builder, at->parent, HOT_LIBRARY, function);
	if (at->kind == HOT_LIBRARY && packages_is_import(builder->packages, at->function) &&
	    is_module_body(profile_get_function(builder->profile, function)))
		return child_of(builder, at->parent, HOT_IMPORT, function);
	return parent;
}

static void place_stacks(struct builder *builder, size_t stacks)
{
	const struct profile *profile = builder->profile;

	for (uint32_t i = 1; i <= stacks; i++) {
		const struct stack *stack = profile_get_stack(profile, (struct stack_id){ i });
		const struct frame *frame = profile_get_frame(profile, stack->frame);

		builder->node_of[i] =
			step(builder, builder->node_of[stack->parent.n], frame->function);
	}
}

/* A library's time by package: the table's key is (node, package). */
static void add_burnt(struct builder *builder, struct table *burnt, uint32_t node,
		      uint32_t stack, uint64_t ns)
{
	const struct stack *at =
		profile_get_stack(builder->profile, (struct stack_id){ stack });
	const struct frame *frame = profile_get_frame(builder->profile, at->frame);
	const uint32_t package = packages_of(builder->packages, frame->function);
	uint64_t *sum = table_at(burnt, node, package, NULL);
	struct hot_node *into = &builder->paths->nodes[node];

	sum_add(sum, ns, &builder->paths->is_saturated);
	if (*sum > into->burner_ns) {
		into->burner_ns = *sum;
		into->burner = package;
	}
}

static void add_weights(struct builder *builder, const struct filter *filter)
{
	struct table burnt = { 0 };

	for (size_t i = 0; i < profile_weight_count(builder->profile); i++) {
		const struct weight *weight = profile_get_weight(builder->profile, i);
		const uint32_t node = builder->node_of[weight->stack.n];
		struct hot_node *into = &builder->paths->nodes[node];

		if (!filter_keeps(filter, weight) || weight->ns == 0)
			continue;
		sum_add(&into->self_ns, weight->ns, &builder->paths->is_saturated);
		sum_add(&builder->total_ns[weight->stack.n], weight->ns,
			&builder->paths->is_saturated);
		if (into->kind == HOT_LIBRARY || into->kind == HOT_IMPORT)
			add_burnt(builder, &burnt, node, weight->stack.n, weight->ns);
	}
	table_done(&burnt);
}

/* Nodes and stacks stand behind their parents. */
static void sum_totals(struct builder *builder, size_t stacks)
{
	struct hot_paths *paths = builder->paths;

	for (size_t i = stacks; i > 0; i--) {
		const struct stack *stack =
			profile_get_stack(builder->profile, (struct stack_id){ (uint32_t)i });

		sum_add(&builder->total_ns[stack->parent.n], builder->total_ns[i],
			&paths->is_saturated);
	}
	for (size_t i = paths->count; i-- > 0;) {
		struct hot_node *node = &paths->nodes[i];

		sum_add(&node->total_ns, node->self_ns, &paths->is_saturated);
		if (i > 0)
			sum_add(&paths->nodes[node->parent].total_ns, node->total_ns,
				&paths->is_saturated);
	}
}

static bool is_entry(const struct builder *builder, uint32_t stack, uint32_t node)
{
	const struct stack *at =
		profile_get_stack(builder->profile, (struct stack_id){ stack });
	const struct hot_paths *paths = builder->paths;
	const uint32_t above = builder->node_of[at->parent.n];

	return paths->nodes[node].kind == HOT_OWN && paths->nodes[node].parent == above &&
	       (paths->nodes[above].kind == HOT_LIBRARY ||
		paths->nodes[above].kind == HOT_IMPORT);
}

/* Counts the frames between the stack, which is own code, and the own code that they were called by. */
static void count_passed(struct builder *builder, struct hot_node *node, uint32_t stack)
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

static void find_passed(struct builder *builder, size_t stacks)
{
	struct hot_paths *paths = builder->paths;

	builder->entry_ns = xzalloc(paths->count * sizeof *builder->entry_ns);
	builder->entry = xzalloc(paths->count * sizeof *builder->entry);
	for (uint32_t i = 1; i <= stacks; i++) {
		const uint32_t node = builder->node_of[i];

		if (builder->total_ns[i] > builder->entry_ns[node] &&
		    is_entry(builder, i, node)) {
			builder->entry_ns[node] = builder->total_ns[i];
			builder->entry[node] = i;
		}
	}
	for (size_t i = 1; i < paths->count; i++) {
		if (builder->entry[i])
			count_passed(builder, &paths->nodes[i], builder->entry[i]);
	}
}

/* Ascending, so that pushing each in front of its siblings leaves them descending. */
static int compare_totals(const void *a, const void *b, void *context)
{
	const struct hot_node *nodes = context;
	const uint32_t x = *(const uint32_t *)a;
	const uint32_t y = *(const uint32_t *)b;

	if (nodes[x].total_ns != nodes[y].total_ns)
		return nodes[x].total_ns < nodes[y].total_ns ? -1 : 1;
	return x < y ? 1 : -1;
}

static void link_children(struct hot_paths *paths)
{
	CLEANUP(freep) uint32_t *order = xreallocarray(NULL, paths->count, sizeof *order);

	for (uint32_t i = 0; i < paths->count; i++)
		order[i] = i;
	qsort_r(order, paths->count, sizeof *order, compare_totals, paths->nodes);
	for (size_t i = 0; i < paths->count; i++) {
		struct hot_node *node = &paths->nodes[order[i]];
		struct hot_node *parent = &paths->nodes[node->parent];

		if (order[i] == 0)
			continue;
		node->next_sibling = parent->first_child;
		parent->first_child = order[i];
	}
}

/* Each node is a row of its own. */
static void find_intervals(const struct builder *builder, const struct filter *filter)
{
	struct hot_paths *paths = builder->paths;
	CLEANUP(freep) uint32_t *parents = xzalloc(paths->count * sizeof *parents);
	CLEANUP(freep) struct intervals *found = xzalloc(paths->count * sizeof *found);

	if (profile_is_trace(builder->profile))
		return;
	for (uint32_t i = 0; i < paths->count; i++)
		parents[i] = paths->nodes[i].parent;
	intervals_find(
		&(struct interval_terms){
			.profile = builder->profile,
			.filter = filter,
			.place_of_stack = builder->node_of,
			.parents = parents,
			.place_count = paths->count,
			.row_count = paths->count,
		},
		found);
	for (size_t i = 0; i < paths->count; i++)
		paths->nodes[i].intervals = found[i];
}

void hot_paths_make(const struct profile *profile, const struct packages *packages,
		    const struct filter *filter, struct hot_paths *out)
{
	const size_t stacks = profile_stack_count(profile);
	struct builder builder = { .profile = profile, .packages = packages, .paths = out };

	*out = (struct hot_paths){ .is_saturated = profile_is_saturated(profile) };
	out->nodes = array_grow(NULL, 0, &out->capacity, sizeof *out->nodes);
	out->nodes[out->count++] = (struct hot_node){ .kind = HOT_ROOT };
	builder.node_of = xzalloc((stacks + 1) * sizeof *builder.node_of);
	builder.total_ns = xzalloc((stacks + 1) * sizeof *builder.total_ns);
	place_stacks(&builder, stacks);
	add_weights(&builder, filter);
	sum_totals(&builder, stacks);
	find_intervals(&builder, filter);
	find_passed(&builder, stacks);
	link_children(out);
	table_done(&builder.index);
	freep(&builder.node_of);
	freep(&builder.total_ns);
	freep(&builder.entry_ns);
	freep(&builder.entry);
}

void hot_paths_done(struct hot_paths *paths)
{
	freep(&paths->nodes);
	*paths = (struct hot_paths){ 0 };
}
