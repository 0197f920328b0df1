#include "report/json_views.h"

#include <json-c/json.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/find.h"
#include "profile/group.h"
#include "profile/group_waits.h"
#include "profile/profile.h"
#include "profile/short_name.h"
#include "profile/tree.h"
#include "report/json.h"
#include "report/report.h"
#include "report/selection.h"

/* Names that fit after leaving out template arguments and the like, in columns. */
#define SHORT_NAME 40

static const char *module_path(const struct profile *profile, struct module_id id)
{
	const struct module *module = profile_get_module(profile, id);

	return module ? module->path : NULL;
}

/* Values that were not measured are null: calls of samples, samples of a trace. */
static void add_costs(struct json_object *object, const struct profile *profile,
		      const struct cost *cost)
{
	json_add_u64(object, "self_ns", cost->self_ns);
	json_add_u64(object, "total_ns", cost->total_ns);
	json_add_interval(object, "self_ns", &cost->intervals.self, !cost->has_intervals);
	json_add_interval(object, "total_ns", &cost->intervals.total, !cost->has_intervals);
	if (profile_is_trace(profile)) {
		json_add(object, "self_samples", NULL);
		json_add(object, "total_samples", NULL);
		json_add_u64(object, "calls", cost->calls);
		json_add_u64(object, "primitive_calls", cost->primitive_calls);
		json_add_u64(object, "raw_self_ns", cost->times.raw_ns);
		json_add_u64(object, "raw_total_ns", cost->raw_total_ns);
		json_add_u64(object, "self_uncertainty_ns", cost->times.uncertainty_ns);
		json_add_figure(object, "min_ns", cost->times.shortest_ns, UINT64_MAX);
		json_add_figure(object, "max_ns",
				cost->times.shortest_ns == UINT64_MAX ? UINT64_MAX
								      : cost->times.longest_ns,
				UINT64_MAX);
	} else {
		json_add_u64(object, "self_samples", cost->self_samples);
		json_add_u64(object, "total_samples", cost->total_samples);
		json_add(object, "calls", NULL);
		json_add(object, "primitive_calls", NULL);
		json_add(object, "raw_self_ns", NULL);
		json_add(object, "raw_total_ns", NULL);
		json_add(object, "self_uncertainty_ns", NULL);
		json_add(object, "min_ns", NULL);
		json_add(object, "max_ns", NULL);
	}
}

/* The time of a row's threads in each state, on the wall clock. */
static void add_waits(struct json_object *object, const struct profile *profile,
		      const struct group_waits *waits)
{
	const struct function *function =
		waits ? profile_get_function(profile, waits->longest) : NULL;
	struct json_object *states = waits ? json_object_new_object() : NULL;
	struct json_object *longest = function ? json_object_new_object() : NULL;

	for (int state = 0; waits && state < THREAD_STATE_COUNT; state++)
		json_add_u64(states, thread_state_name((enum thread_state)state),
			     waits->ns[state]);
	json_add(object, "states_ns", states);
	if (longest) {
		json_add_u64(longest, "function", waits->longest.n);
		json_add_string(longest, "name", function->name);
		json_add_u64(longest, "ns", waits->longest_ns);
	}
	json_add(object, "longest_wait", longest);
}

/* Adds the name as narrow tables show it. */
static void add_short_name(struct json_object *object, const char *name)
{
	CLEANUP(text_done) struct text text = { 0 };

	short_name_add(&text, name, SHORT_NAME);
	json_add_string(object, "short_name", text_string(&text));
}

static void add_function(struct json_object *object, const struct profile *profile,
			 const struct group *row)
{
	const struct function *function = profile_get_function(profile, row->function);

	json_add_u64(object, "id", row->function.n);
	json_add_string(object, "name", row->name);
	add_short_name(object, row->name);
	json_add_string(object, "language", language_name(function->language));
	json_add_string(object, "module", module_path(profile, row->module));
	json_add_string(object, "file", row->file);
	json_add_figure(object, "line", row->line, 0);
	json_add_string(object, "plain_name",
			function->plain_name ? function->plain_name : row->name);
	add_costs(object, profile, &row->cost);
}

static void add_line(struct json_object *object, const struct profile *profile,
		     const struct group *row)
{
	json_add_u64(object, "function", row->function.n);
	json_add_string(object, "name", row->name);
	json_add_string(object, "module", module_path(profile, row->module));
	json_add_string(object, "file", row->file);
	json_add_figure(object, "line", row->line, 0);
	add_costs(object, profile, &row->cost);
}

static void add_module(struct json_object *object, const struct profile *profile,
		       const struct group *row)
{
	const struct module *module = profile_get_module(profile, row->module);
	char hex[2 * sizeof module->build_id + 1] = "";

	json_add_string(object, "name", row->name);
	json_add_string(object, "module", module ? module->path : NULL);
	for (size_t i = 0; module && i < module->build_id_len; i++)
		snprintf(hex + 2 * i, 3, "%02x", module->build_id[i]);
	json_add_string(object, "build_id", *hex ? hex : NULL);
	add_costs(object, profile, &row->cost);
}

static void add_package(struct json_object *object, const struct profile *profile,
			const struct group *row)
{
	json_add_string(object, "name", row->name);
	json_add_string(object, "origin", row->origin);
	add_costs(object, profile, &row->cost);
}

static void add_region(struct json_object *object, const struct profile *profile,
		       const struct group *row)
{
	json_add_figure(object, "function", row->function.n, 0);
	json_add_string(object, "name", row->name);
	add_waits(object, profile, row->waits);
	add_costs(object, profile, &row->cost);
}

static void add_process_ids(struct json_object *object, const struct process *process)
{
	json_add_figure(object, "pid", process ? (uint64_t)process->pid : 0, 0);
}

static void add_state(struct json_object *object, const struct profile *profile,
		      const struct group *row)
{
	json_add_string(object, "name", row->name);
	add_costs(object, profile, &row->cost);
}

static void add_thread(struct json_object *object, const struct profile *profile,
		       const struct group *row)
{
	const struct thread *thread = profile_get_thread(profile, row->thread);
	const struct process *process = profile_get_process(profile, row->process);

	json_add_figure(object, "tid", thread ? (uint64_t)thread->tid : 0, 0);
	json_add_string(object, "name", row->name);
	add_process_ids(object, process);
	json_add_string(object, "process", process ? process->name : NULL);
	json_add_figure(object, "cpu_ns", thread ? thread->cpu_ns : 0, 0);
	add_waits(object, profile, row->waits);
	add_costs(object, profile, &row->cost);
}

static void add_process(struct json_object *object, const struct profile *profile,
			const struct group *row)
{
	const struct process *process = profile_get_process(profile, row->process);
	const struct process *parent =
		process ? profile_get_process(profile, process->parent) : NULL;

	add_process_ids(object, process);
	json_add_figure(object, "parent_pid", parent ? (uint64_t)parent->pid : 0, 0);
	json_add_string(object, "name", row->name);
	json_add_string(object, "title", process ? process->title : NULL);
	json_add_figure(object, "period_ns", process ? process->period_ns : 0, 0);
	json_add_figure(object, "cpu_ns", process ? process->cpu_ns : 0, 0);
	json_add_string(object, "unentered_reason", process ? process->unentered_reason : NULL);
	json_add_string(object, "interpreter", process ? process->interpreter : NULL);
	add_waits(object, profile, row->waits);
	add_costs(object, profile, &row->cost);
}

/*
 * Values that were not measured are null: a trace has no samples, so no process is too brief
 * for one.
 */
static void add_program(struct json_object *object, const struct profile *profile,
			const struct group *row)
{
	const struct group_program *program = &row->program;

	json_add_string(object, "name", row->name);
	json_add_u64(object, "processes", program->processes);
	json_add_u64(object, "entered", program->entered);
	json_add_figure(object, "brief",
			profile_is_trace(profile) ? FIGURE_UNKNOWN : program->brief,
			FIGURE_UNKNOWN);
	json_add_figure(object, "cpu_ns", program->cpu_ns, 0);
	json_add_string(object, "unentered_reason", program->unentered_reason);
	add_waits(object, profile, row->waits);
	add_costs(object, profile, &row->cost);
}

static const struct {
	const char *key;
	void (*add_row)(struct json_object *object, const struct profile *profile,
			const struct group *row);
} arrays[GROUP_BY_COUNT] = {
	[GROUP_BY_FUNCTION] = { "functions", add_function },
	[GROUP_BY_LINE] = { "lines", add_line },
	[GROUP_BY_MODULE] = { "modules", add_module },
	[GROUP_BY_PACKAGE] = { "packages", add_package },
	[GROUP_BY_REGION] = { "regions", add_region },
	[GROUP_BY_STATE] = { "states", add_state },
	[GROUP_BY_THREAD] = { "threads", add_thread },
	[GROUP_BY_PROCESS] = { "processes", add_process },
	[GROUP_BY_PROGRAM] = { "programs", add_program },
};

void json_views_add_rows(struct json_writer *writer, const struct selection *selection,
			 enum group_by by)
{
	struct groups groups;

	groups_make(selection->profile, by, selection->filter, &groups);
	json_writer_begin(writer, arrays[by].key, '[');
	for (size_t i = 0; i < groups.count; i++) {
		struct json_object *object = json_object_new_object();
		arrays[by].add_row(object, selection->profile, &groups.rows[i]);
		json_writer_add(writer, NULL, object);
	}
	json_writer_end(writer, ']');
	groups_done(&groups);
}

static struct json_object *node_of(const struct profile *profile, const struct tree_node *node,
				   uint32_t id)
{
	const struct function *function = profile_get_function(profile, node->function);
	struct json_object *object = json_object_new_object();
	const bool is_trace = profile_is_trace(profile);

	json_add_u64(object, "id", id);
	json_add(object, "parent", id > 0 ? json_object_new_uint64(node->parent) : NULL);
	json_add_figure(object, "function", node->function.n, 0);
	json_add_string(object, "name", function ? function->name : NULL);
	json_add_u64(object, "self_ns", node->self_ns);
	json_add_u64(object, "total_ns", node->total_ns);
	json_add_interval(object, "self_ns", &node->intervals.self, !node->has_intervals);
	json_add_interval(object, "total_ns", &node->intervals.total, !node->has_intervals);
	json_add(object, "self_samples",
		 is_trace ? NULL : json_object_new_uint64(node->self_samples));
	json_add(object, "total_samples",
		 is_trace ? NULL : json_object_new_uint64(node->total_samples));
	json_add(object, "self_calls",
		 is_trace ? json_object_new_uint64(node->self_calls) : NULL);
	json_add(object, "total_calls",
		 is_trace ? json_object_new_uint64(node->total_calls) : NULL);
	return object;
}

/*
 * Nodes form a flat array with indices of their parents: most readers would refuse a deep
 * recursion nested in JSON.
 */
static void add_nodes(struct json_writer *writer, const char *key,
		      const struct profile *profile, const struct tree *tree)
{
	json_writer_begin(writer, key, '[');
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct tree_node *node = &tree->nodes[i];
		if (i == 0 || node->total_ns > 0 || node->total_samples > 0 ||
		    node->total_calls > 0)
			json_writer_add(writer, NULL, node_of(profile, node, i));
	}
	json_writer_end(writer, ']');
}

static struct json_object *functions_meant(const struct profile *profile,
					   const struct found *found)
{
	struct json_object *array = json_object_new_array();

	for (size_t id = 1; id <= profile_function_count(profile); id++) {
		if (found->is_meant[id])
			json_object_array_add(array, json_object_new_uint64(id));
	}
	return array;
}

/* Callers or callees, which divide the time of one function. */
struct relatives {
	const char *key;
	const char *function;
	void (*make)(const struct tree *top_down, const bool *is_meant, struct tree *out_tree);
};

static int add_relatives(struct json_writer *writer, const struct relatives *relatives,
			 const struct selection *selection, const struct tree *top_down,
			 struct error *err)
{
	CLEANUP(found_done) struct found found = { 0 };
	struct tree tree;
	int rc = find_functions(selection->profile, relatives->function, &found, err);
	if (rc < 0)
		return rc;

	relatives->make(top_down, found.is_meant, &tree);
	json_writer_begin(writer, relatives->key, '{');
	json_writer_add(writer, "name", json_new_string(found.name));
	json_writer_add(writer, "functions", functions_meant(selection->profile, &found));
	add_nodes(writer, "nodes", selection->profile, &tree);
	json_writer_end(writer, '}');
	tree_done(&tree);
	return 0;
}

int json_views_add_trees(struct json_writer *writer, const struct selection *selection,
			 const struct report_options *options, struct error *err)
{
	const struct relatives asked[] = {
		{ "callers", options->callers, tree_callers },
		{ "callees", options->callees, tree_callees },
	};
	CLEANUP(tree_done) struct tree top_down = { 0 };
	int rc = 0;

	if (!options->has_tree && !options->callers && !options->callees)
		return 0;
	tree_top_down(selection->profile, selection->filter, &top_down);
	if (options->has_tree)
		add_nodes(writer, "tree", selection->profile, &top_down);
	for (size_t i = 0; i < 2 && rc == 0; i++) {
		if (asked[i].function)
			rc = add_relatives(writer, &asked[i], selection, &top_down, err);
	}
	return rc;
}
