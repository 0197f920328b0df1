/*
 * Writes report --json; the contract is docs/report-json.md. A new field must be added there
 * and to docs/report-json.schema.json; fields are never removed, nor do they change their
 * meaning.
 */
#include "report/report.h"

#include <json-c/json.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/profile.h"
#include "profile/states.h"
#include "report/blame.h"
#include "report/json.h"
#include "report/json_views.h"
#include "report/listing.h"
#include "report/selection.h"

static struct json_object *strings_of(const char *const *strings, size_t count)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < count; i++)
		json_object_array_add(array, json_new_string(strings[i]));
	return array;
}

/* The account covers samples: a trace has the kernel's figure only. */
static void add_no_account(struct json_object *object, const struct profile_info *info)
{
	static const char *const parts[] = { "sampled_ns",    "thread_only_ns",
					     "lost_ns",       "startup_ns",
					     "exit_ns",       "unentered_ns",
					     "traced_ns",     "kernel_unsampled_ns",
					     "unexplained_ns" };

	json_add_figure(object, "kernel_cpu_ns", info->kernel_cpu_ns, FIGURE_UNKNOWN);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		json_add(object, parts[i], NULL);
}

static void add_account(struct json_object *object, const struct profile_info *info)
{
	json_add_figure(object, "kernel_cpu_ns", info->kernel_cpu_ns, FIGURE_UNKNOWN);
	json_add_figure(object, "sampled_ns", info->sampled_ns, FIGURE_UNKNOWN);
	json_add_figure(object, "thread_only_ns", info->thread_only_ns, FIGURE_UNKNOWN);
	json_add_figure(object, "lost_ns", info->lost_ns, FIGURE_UNKNOWN);
	json_add_figure(object, "startup_ns", info->startup_ns, FIGURE_UNKNOWN);
	json_add_figure(object, "exit_ns", info->exit_ns, FIGURE_UNKNOWN);
	json_add_figure(object, "unentered_ns", info->unentered_ns, FIGURE_UNKNOWN);
	json_add_figure(object, "kernel_unsampled_ns", info->kernel_unsampled_ns,
			FIGURE_UNKNOWN);
	json_add_figure(object, "traced_ns", info->traced_ns, FIGURE_UNKNOWN);
	json_add(object, "unexplained_ns",
		 info->has_unexplained ? json_object_new_int64(info->unexplained_ns) : NULL);
}

static struct json_object *stacks_of(const struct profile_info *info)
{
	struct json_object *stacks = json_object_new_object();

	for (size_t i = 0; i < info->stack_tally_count; i++)
		json_add_u64(stacks, info->stacks[i].reason, info->stacks[i].samples);
	return stacks;
}

static struct json_object *interpreters_of(const struct profile_info *info)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < info->interpreter_count; i++) {
		const struct interpreter *interpreter = &info->interpreters[i];
		struct json_object *object = json_object_new_object();

		json_add_string(object, "language", interpreter->language);
		json_add_string(object, "version", interpreter->version);
		json_add_string(object, "path", interpreter->path);
		json_add_string(object, "why_not", interpreter->why_not);
		json_add_u64(object, "processes", interpreter->process_count);
		json_object_array_add(array, object);
	}
	return array;
}

/* The measuring cost within the times of traced calls. */
static struct json_object *measuring_of(const struct profile_info *info)
{
	struct json_object *object = json_object_new_object();

	json_add(object, "is_corrected", json_object_new_boolean(info->is_corrected));
	json_add_u64(object, "raw_ns", info->raw_ns);
	json_add_u64(object, "ns", info->measuring_ns);
	json_add_u64(object, "uncertainty_ns", info->uncertainty_ns);
	json_add_u64(object, "clipped_ns", info->clipped_ns);
	json_add_u64(object, "left_out_ns", info->left_out_ns);
	json_add_u64(object, "calls_of_unknown_cost", info->unknown_calls);
	json_add(object, "pace",
		 info->slowdown > 0 ? json_object_new_double(info->slowdown) : NULL);
	return object;
}

static struct json_object *recording_of(const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);
	struct json_object *object = json_object_new_object();
	const bool is_trace = profile_is_trace(profile);

	json_add(object, "command", strings_of(info->command, info->command_count));
	json_add_string(object, "mode", info->mode);
	json_add_string(object, "clock", info->clock);
	json_add(object, "only",
		 info->only_count > 0 ? strings_of(info->only, info->only_count) : NULL);
	json_add_figure(object, "rate_hz", info->rate_hz, 0);
	json_add_figure(object, "period_ns", info->period_ns, 0);
	json_add_string(object, "trigger", info->trigger);
	json_add_string(object, "trigger_why", info->trigger_why);
	json_add(object, "is_unfinished", json_object_new_boolean(info->is_unfinished));
	json_add_figure(object, "start_unix_ns", info->start_unix_ns, FIGURE_UNKNOWN);
	json_add_figure(object, "wall_ns", info->wall_ns, FIGURE_UNKNOWN);
	json_add_u64(object, "processes", profile_process_count(profile));
	json_add_u64(object, "threads", profile_thread_count(profile));
	json_add_figure(object, "samples", is_trace ? FIGURE_UNKNOWN : info->samples,
			FIGURE_UNKNOWN);
	json_add_figure(object, "calls", is_trace ? info->calls : FIGURE_UNKNOWN,
			FIGURE_UNKNOWN);
	json_add_figure(object, "lost", is_trace ? FIGURE_UNKNOWN : info->lost, FIGURE_UNKNOWN);
	if (is_trace)
		add_no_account(object, info);
	else
		add_account(object, info);
	json_add(object, "measuring", is_trace ? measuring_of(info) : NULL);
	json_add_figure(object, "paused_ns", info->paused_ns, FIGURE_UNKNOWN);
	json_add(object, "stacks", is_trace ? NULL : stacks_of(info));
	json_add(object, "interpreters", interpreters_of(info));
	json_add(object, "is_folded", json_object_new_boolean(info->is_folded));
	json_add_figure(object, "sampling_cost_ns", info->sampling_cost_ns, FIGURE_UNKNOWN);
	json_add(object, "notes", strings_of(info->notes, info->note_count));
	json_add_string(object, "fathom_version", info->fathom_version);
	json_add_string(object, "host", info->host);
	return object;
}

static struct json_object *filter_of(const struct report_options *options,
				     const struct selection *selection)
{
	if (!selection->filter)
		return NULL;

	struct json_object *object = json_object_new_object();
	json_add_string(object, "thread", options->thread);
	json_add_string(object, "state", options->state);
	json_add_string(object, "module", options->module);
	json_add_string(object, "package", options->package);
	json_add_string(object, "process", options->process);
	json_add_u64(object, "whole_ns", filter_whole_ns(selection->filter));
	return object;
}

/* Each state of the wall clock, within the selection; null for other clocks. */
static struct json_object *states_of(const struct selection *selection)
{
	struct json_object *object;
	struct state_sums sums;

	if (!profile_is_wall(selection->profile))
		return NULL;
	object = json_object_new_object();
	states_sum(selection->profile, selection->filter, &sums);
	for (int state = 0; state < THREAD_STATE_COUNT; state++)
		json_add_u64(object, thread_state_name((enum thread_state)state),
			     sums.ns[state]);
	return object;
}

int report_json(const struct profile *profile, const struct report_options *options,
		struct text *out, struct error *err)
{
	CLEANUP(text_done) struct text text = { 0 };
	CLEANUP(selection_done) struct selection selection = { 0 };
	struct json_writer writer = { .out = &text };

	struct report_options all = *options;

	all.has_idle = true;
	int rc = selection_init(&selection, profile, &all, err);
	if (rc < 0)
		return rc;
	json_writer_begin(&writer, NULL, '{');
	json_writer_add(&writer, "schema", json_object_new_int(1));
	json_writer_add_block(&writer, "recording", recording_of(profile));
	json_writer_add(&writer, "filter", filter_of(options, &selection));
	json_writer_add(&writer, "total_ns", json_object_new_uint64(selection.ns));
	json_writer_add_block(&writer, "states_ns", states_of(&selection));
	json_views_add_rows(&writer, &selection, GROUP_BY_FUNCTION);
	if (options->by != GROUP_BY_FUNCTION)
		json_views_add_rows(&writer, &selection, options->by);
	if (options->has_blame)
		blame_add_json(&writer, &selection);
	rc = json_views_add_trees(&writer, &selection, options, err);
	if (rc == 0)
		rc = listing_add_json(&writer, &selection, options, err);
	if (rc < 0)
		return rc;

	json_writer_end(&writer, '}');
	text_add(&text, "\n");
	text_add_bytes(out, text_string(&text), text.len);
	return 0;
}
