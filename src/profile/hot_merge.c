/*
 * Merges functions called by one node that have little time each into one node: a framework
 * that runs a thousand tests, a table of handlers. Their callees are merged by function below
 * it.
 */
#include "profile/hot_paths_internal.h"

#include <string.h>

#include "base/memory.h"
#include "profile/sum.h"

enum {
	/* Per cent of all time: a function with less is light; */
	LIGHT = 3,
	/* light functions are merged if they have at least so much together, */
	TOGETHER = 10,
	/* and are at least so many. */
	MEMBERS_LEAST = 5,
};

/* For each node that calls light functions: their number, and their time. */
struct light {
	uint32_t count;
	uint64_t ns;
};

struct merging {
	struct hot_builder *builder;
	struct hot_paths old; /* the nodes so far; builder->paths gets the new ones */
	struct light *lights; /* by old node */
	uint32_t *now;        /* by old node: its new node */
	struct table members; /* (new group, function) */
};

static bool is_light(const struct hot_paths *paths, uint32_t node)
{
	return paths->nodes[node].kind == HOT_OWN &&
	       paths->nodes[node].total_ns < hot_percent_of(paths->nodes[0].total_ns, LIGHT);
}

static bool is_merged(const struct merging *merging, uint32_t node)
{
	const struct hot_paths *old = &merging->old;
	const struct light *light = &merging->lights[hot_paths_own_above(old, node)];

	return is_light(old, node) && light->count >= MEMBERS_LEAST &&
	       light->ns >= hot_percent_of(old->nodes[0].total_ns, TOGETHER);
}

static bool count_lights(struct merging *merging)
{
	const struct hot_paths *old = &merging->old;
	bool is_saturated = false;

	merging->lights = xzalloc(old->count * sizeof *merging->lights);
	for (uint32_t i = 1; i < old->count; i++) {
		struct light *light = &merging->lights[hot_paths_own_above(old, i)];

		if (!is_light(old, i) || old->nodes[i].total_ns == 0)
			continue;
		light->count++;
		sum_add(&light->ns, old->nodes[i].total_ns, &is_saturated);
	}
	for (uint32_t i = 1; i < old->count; i++)
		if (is_merged(merging, i))
			return true;
	return false;
}

/* The length of the paths' common folders, or of all if they are equal. */
static uint32_t common_length(const char *a, const char *b, uint32_t most)
{
	uint32_t folder = 0;

	for (uint32_t i = 0; i < most; i++) {
		if (a[i] != b[i])
			return folder;
		if (a[i] == '\0')
			return i;
		if (a[i] == '/')
			folder = i + 1;
	}
	return most;
}

static void add_member(struct merging *merging, uint32_t group, struct function_id function)
{
	const struct profile *profile = merging->builder->profile;
	struct hot_node *node = &merging->builder->paths->nodes[group];
	const char *file = profile_get_function(profile, function)->file;
	const char *first = profile_get_function(profile, node->function)->file;
	bool is_new;

	table_at(&merging->members, group, function.n, &is_new);
	if (!is_new)
		return;
	node->members++;
	/* Code from strings and templates has no folder. */
	if (!file || file[0] != '/')
		return;
	if (!first || first[0] != '/') {
		node->function = function;
		first = file;
	}
	node->common = node->common == 0 ? (uint32_t)strlen(file)
					 : common_length(first, file, node->common);
}

/* The group below a new node; its first function represents it. */
static uint32_t group_of(struct merging *merging, uint32_t above, struct function_id function)
{
	struct hot_builder *builder = merging->builder;
	uint64_t known;
	uint32_t group;

	/* The key's function 0 stands for all functions of the group. */
	if (table_get(&builder->index, (uint64_t)above << 8 | HOT_GROUP, 0, &known)) {
		group = (uint32_t)known;
	} else {
		group = hot_child(builder, above, HOT_GROUP, (struct function_id){ 0 });
		builder->paths->nodes[group].function = function;
	}
	add_member(merging, group, function);
	return group;
}

static void rebuild(struct merging *merging)
{
	struct hot_builder *builder = merging->builder;

	for (uint32_t i = 1; i < merging->old.count; i++) {
		const struct hot_node *node = &merging->old.nodes[i];
		const uint32_t above = hot_paths_own_above(&merging->old, i);

		merging->now[i] =
			is_merged(merging, i)
				? group_of(merging, merging->now[above], node->function)
				: hot_wait_child(builder, merging->now[node->parent],
						 node->kind, node->function, node->wait);
	}
	for (uint32_t i = 1; i <= builder->stacks; i++)
		builder->node_of[i] = merging->now[builder->node_of[i]];
}

bool hot_merge(struct hot_builder *builder)
{
	struct hot_paths *paths = builder->paths;
	struct merging merging = { .builder = builder, .old = *paths };
	const bool is_worth_it = count_lights(&merging);

	if (is_worth_it) {
		*paths = (struct hot_paths){ .is_saturated = merging.old.is_saturated };
		paths->nodes = array_grow(NULL, 0, &paths->capacity, sizeof *paths->nodes);
		paths->nodes[paths->count++] = (struct hot_node){ .kind = HOT_ROOT };
		table_done(&builder->index);
		merging.now = xzalloc(merging.old.count * sizeof *merging.now);
		rebuild(&merging);
		hot_paths_done(&merging.old);
	}
	freep(&merging.lights);
	freep(&merging.now);
	table_done(&merging.members);
	return is_worth_it;
}
