/*
 * Builds the tree of hot paths: a node for each own function on a path, and for the library
 * code between them.
 */
#include "profile/hot_paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "profile/child_waits.h"
#include "profile/filter.h"
#include "profile/hot_paths_internal.h"
#include "profile/import_name.h"
#include "profile/packages.h"
#include "profile/states.h"
#include "profile/sum.h"

uint32_t hot_wait_child(struct hot_builder *builder, uint32_t parent, enum hot_kind kind,
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

uint32_t hot_child(struct hot_builder *builder, uint32_t parent, enum hot_kind kind,
		   struct function_id function)
{
	return hot_wait_child(builder, parent, kind, function, (struct function_id){ 0 });
}

uint32_t hot_paths_own_above(const struct hot_paths *paths, uint32_t node)
{
	uint32_t above = paths->nodes[node].parent;

	while (above && !hot_kind_is_own(paths->nodes[above].kind))
		above = paths->nodes[above].parent;
	return above;
}

/* The function's node among this one and its ancestors; 0: none. */
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

/* Whether it is a module's code, as named by Python: "import json". */
static bool is_import(const struct hot_builder *builder, struct function_id id)
{
	const struct function *function = profile_get_function(builder->profile, id);

	return function->language == LANGUAGE_PYTHON &&
	       strncmp(function->name, "import ", strlen("import ")) == 0;
}

static bool has_file(const struct function *function)
{
	return function->file && *function->file != '<';
}

/*
 * Whether a library's C code, or code it generates at run time, only dispatches to its Python
 * code: numpy's fft below its dispatcher_vectorcall, or below <__array_function__ internals>
 * and implement_array_function.
 */
static bool is_dispatched(const struct hot_builder *builder, struct function_id outer,
			  struct function_id inner)
{
	const struct function *caller = profile_get_function(builder->profile, outer);
	const struct function *callee = profile_get_function(builder->profile, inner);

	if (!language_is_interpreted(callee->language) ||
	    packages_of(builder->packages, outer) != packages_of(builder->packages, inner))
		return false;
	return caller->language == LANGUAGE_NATIVE || (!has_file(caller) && has_file(callee));
}

/*
 * Whether the function is less informative than the object waited for: of the C or C++ library,
 * or of what languages wait with.
 */
static bool is_of_waiting(const struct hot_builder *builder, struct function_id function)
{
	/* Prefixes, also of _thread's methods and of threading's. */
	static const char *const names[] = { "libc.",     "libc-",  "libpthread",
					     "libstdc++", "std",    "time",
					     "thread",    "queue",  "Ruby's core",
					     "libgomp",   "libglib" };
	const char *name =
		packages_get(builder->packages, packages_of(builder->packages, function))->name;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

static bool is_call(const struct hot_builder *builder, struct function_id function)
{
	return profile_is_wall(builder->profile) &&
	       profile_get_function(builder->profile, function)->language == LANGUAGE_KERNEL;
}

static uint32_t step_to_call(struct hot_builder *builder, uint32_t parent,
			     struct function_id call)
{
	const struct hot_node *at = &builder->paths->nodes[parent];
	const struct function_id none = { 0 };

	if (at->kind == HOT_IMPORT)
		return parent;
	if (at->kind != HOT_LIBRARY)
		return hot_wait_child(builder, parent, HOT_LIBRARY, none, call);
	return hot_wait_child(builder, at->parent, HOT_LIBRARY,
			      is_of_waiting(builder, at->function) ? none : at->function, call);
}

static bool is_outermost_library(const struct hot_paths *paths, uint32_t node)
{
	return node && paths->nodes[node].kind == HOT_LIBRARY && paths->nodes[node].parent == 0;
}

/*
 * Own code without names merges into the nearest own node if that is the same code; below other
 * own code it gets a new node, whatever is between: a thread's first function, or qsort.
 */
static uint32_t step_to_own(struct hot_builder *builder, uint32_t parent,
			    struct function_id function)
{
	const struct hot_paths *paths = builder->paths;
	const struct function_id known = { builder->stands_for[function.n] };
	const uint32_t nearest = hot_kind_is_own(paths->nodes[parent].kind)
					 ? parent
					 : hot_paths_own_above(paths, parent);

	if (!known.n) {
		const uint32_t node = own_above(paths, parent, function);

		if (node)
			return node;
		/* What a program or a thread begins with is no part of the path: one row for all. */
		return hot_child(builder, is_outermost_library(paths, parent) ? 0 : parent,
				 HOT_OWN, function);
	}
	return nearest && paths->nodes[nearest].function.n == known.n
		       ? nearest
		       : hot_child(builder, nearest, HOT_OWN, known);
}

/* The node of a stack whose caller's node is `parent`. */
static uint32_t step(struct hot_builder *builder, uint32_t parent, struct function_id function)
{
	const struct hot_node *at = &builder->paths->nodes[parent];

	if (is_call(builder, function))
		return step_to_call(builder, parent, function);
	if (builder->is_own[function.n])
		return step_to_own(builder, parent, function);
	if (builder->stands_for[function.n])
		return at->kind == HOT_NAMELESS
			       ? parent
			       : hot_child(builder, parent, HOT_NAMELESS,
					   (struct function_id){
						   builder->stands_for[function.n] });
	/* A library function called by code without names gets a node of its own name. */
	if (at->kind == HOT_NAMELESS)
		return hot_child(builder, at->parent, HOT_LIBRARY, function);
	if (at->kind == HOT_OWN || at->kind == HOT_ROOT)
		return hot_child(builder, parent,
				 is_import(builder, function) ? HOT_IMPORT : HOT_LIBRARY,
				 function);
	if (at->kind == HOT_LIBRARY && is_dispatched(builder, at->function, function))
		return hot_child(builder, at->parent, HOT_LIBRARY, function);
	if (at->kind == HOT_LIBRARY && packages_is_import(builder->packages, at->function) &&
	    import_name_is_body(profile_get_function(builder->profile, function)->name))
		return hot_child(builder, at->parent, HOT_IMPORT, function);
	return parent;
}

static void place_stacks(struct hot_builder *builder)
{
	for (uint32_t i = 1; i <= builder->stacks; i++)
		builder->node_of[i] = step(builder, builder->node_of[hot_caller_of(builder, i)],
					   hot_function_of(builder, i));
}

/* Adds a library's time by package: the table's key is (node, package). */
static void add_burnt(struct hot_builder *builder, struct table *burnt, uint32_t node,
		      uint32_t stack, uint64_t ns)
{
	const uint32_t package =
		packages_of(builder->packages, hot_function_of(builder, stack));
	uint64_t *sum = table_at(burnt, node, package, NULL);
	struct hot_node *into = &builder->paths->nodes[node];

	sum_add(sum, ns, &builder->paths->is_saturated);
	if (*sum > into->burner_ns) {
		into->burner_ns = *sum;
		into->burner = package;
	}
}

static void add_weights(struct hot_builder *builder)
{
	struct table burnt = { 0 };

	for (size_t i = 0; i < profile_weight_count(builder->profile); i++) {
		const struct weight *weight = profile_get_weight(builder->profile, i);
		const uint32_t node = builder->node_of[weight->stack.n];
		struct hot_node *into = &builder->paths->nodes[node];

		if (!filter_keeps(builder->filter, weight) || weight->ns == 0)
			continue;
		sum_add(&into->self_ns, weight->ns, &builder->paths->is_saturated);
		if (builder->is_for_child && builder->is_for_child[i])
			sum_add(&into->self_child_ns, weight->ns,
				&builder->paths->is_saturated);
		sum_add(&builder->total_ns[weight->stack.n], weight->ns,
			&builder->paths->is_saturated);
		if (into->kind != HOT_ROOT && !hot_kind_is_own(into->kind))
			add_burnt(builder, &burnt, node, weight->stack.n, weight->ns);
	}
	table_done(&burnt);
}

/* Children have higher numbers than parents, among nodes and stacks alike. */
static void sum_totals(struct hot_builder *builder)
{
	struct hot_paths *paths = builder->paths;

	for (uint32_t i = (uint32_t)builder->stacks; i > 0; i--)
		sum_add(&builder->total_ns[hot_caller_of(builder, i)], builder->total_ns[i],
			&paths->is_saturated);
	for (size_t i = paths->count; i-- > 0;) {
		struct hot_node *node = &paths->nodes[i];

		struct hot_node *parent = &paths->nodes[node->parent];

		sum_add(&node->total_ns, node->self_ns, &paths->is_saturated);
		sum_add(&node->total_child_ns, node->self_child_ns, &paths->is_saturated);
		if (i == 0)
			continue;
		sum_add(&parent->total_ns, node->total_ns, &paths->is_saturated);
		sum_add(&parent->total_child_ns, node->total_child_ns, &paths->is_saturated);
	}
}

/* Ascending, so that inserting each before its siblings leaves them descending. */
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
static void find_intervals(const struct hot_builder *builder)
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
			.filter = builder->filter,
			.place_of_stack = builder->node_of,
			.parents = parents,
			.place_count = paths->count,
			.row_count = paths->count,
		},
		found);
	for (size_t i = 0; i < paths->count; i++)
		paths->nodes[i].intervals = found[i];
}

static void sum_up(struct hot_builder *builder)
{
	for (size_t i = 0; i < builder->paths->count; i++) {
		struct hot_node *node = &builder->paths->nodes[i];

		node->self_ns = node->total_ns = node->burner_ns = 0;
		node->self_child_ns = node->total_child_ns = 0;
		node->burner = 0;
	}
	memset(builder->total_ns, 0, (builder->stacks + 1) * sizeof *builder->total_ns);
	add_weights(builder);
	sum_totals(builder);
}

void hot_paths_make(const struct profile *profile, const struct packages *packages,
		    const struct filter *filter, struct hot_paths *out)
{
	struct hot_builder builder = { .profile = profile,
				       .packages = packages,
				       .filter = filter,
				       .paths = out,
				       .stacks = profile_stack_count(profile),
				       .is_for_child = child_waits_find(profile) };

	*out = (struct hot_paths){ .is_saturated = profile_is_saturated(profile) };
	out->nodes = array_grow(NULL, 0, &out->capacity, sizeof *out->nodes);
	out->nodes[out->count++] = (struct hot_node){ .kind = HOT_ROOT };
	builder.node_of = xzalloc((builder.stacks + 1) * sizeof *builder.node_of);
	builder.total_ns = xzalloc((builder.stacks + 1) * sizeof *builder.total_ns);
	hot_find_named(&builder);
	hot_find_wrappers(&builder);
	place_stacks(&builder);
	sum_up(&builder);
	if (hot_merge(&builder))
		sum_up(&builder);
	if (hot_split_outer(&builder))
		sum_up(&builder);
	find_intervals(&builder);
	hot_find_passed(&builder);
	link_children(out);
	table_done(&builder.index);
	freep(&builder.is_for_child);
	freep(&builder.is_own);
	freep(&builder.stands_for);
	freep(&builder.node_of);
	freep(&builder.total_ns);
}

void hot_paths_done(struct hot_paths *paths)
{
	freep(&paths->nodes);
	*paths = (struct hot_paths){ 0 };
}
