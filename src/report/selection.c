#include "report/selection.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "profile/profile.h"
#include "profile/states.h"
#include "profile/sum.h"
#include "report/account.h"
#include "report/number.h"
#include "report/report_options.h"
#include "report/style.h"

/* The base of percentages may differ from the time in the head by 1/PLAIN_PART unmentioned. */
enum { PLAIN_PART = 100 };

static uint64_t sum_of(const struct profile *profile)
{
	bool is_saturated = false;
	uint64_t ns = 0;

	for (size_t i = 0; i < profile_weight_count(profile); i++)
		sum_add(&ns, profile_get_weight(profile, i)->ns, &is_saturated);
	return ns;
}

/* Whether idle threads are left out: in views by code, which sum over threads. */
static bool is_without_idle(const struct profile *profile, const struct report_options *options)
{
	const bool is_by_code =
		options->is_summary || options->has_tree || options->callers ||
		options->callees || options->lines || options->by == GROUP_BY_FUNCTION ||
		options->by == GROUP_BY_LINE || options->by == GROUP_BY_MODULE ||
		options->by == GROUP_BY_PACKAGE || options->by == GROUP_BY_STATE;

	return profile_is_wall(profile) && is_by_code && !options->has_idle &&
	       !options->has_blame && !options->thread && !options->process;
}

int selection_init(struct selection *selection, const struct profile *profile,
		   const struct report_options *options, struct error *err)
{
	struct filter *filter;

	if (profile_is_trace(profile) && (options->lines || options->by == GROUP_BY_LINE))
		return error_set(err, -EINVAL,
				 "a trace has the times of functions, not of their lines: "
				 "'fathom record' makes a recording that has those");
	if ((options->by == GROUP_BY_STATE || options->has_blame) && !profile_is_wall(profile))
		return error_set(
			err, -EINVAL,
			"this recording has no states: 'fathom record --clock wall' makes "
			"one that has");
	int rc = filter_new(profile,
			    &(struct filter_options){
				    .process = options->process,
				    .state = options->state,
				    .thread = options->thread,
				    .module = options->module,
				    .package = options->package,
				    .is_without_idle = is_without_idle(profile, options) },
			    &filter, err);
	if (rc < 0)
		return rc;

	*selection = (struct selection){
		.profile = profile,
		.filter = filter,
		.ns = filter ? filter_kept_ns(filter) : sum_of(profile),
	};
	return 0;
}

void selection_done(struct selection *selection)
{
	filter_freep(&selection->filter);
}

/* Adds "; 4 idle threads, 12.0 s, are left out (--idle)". */
static void add_idle(const struct filter *filter, struct text *out)
{
	const struct idle idle = filter_idle(filter);

	if (idle.threads == 0)
		return;
	text_addf(out, "; %zu idle thread%s, ", idle.threads, idle.threads == 1 ? "" : "s");
	number_add_any_time(out, idle.ns);
	text_addf(out, ", %s left out (--idle: with %s)", idle.threads == 1 ? "is" : "are",
		  idle.threads == 1 ? "it" : "them");
}

static void add_filtered_base(const struct filter *filter, struct text *out)
{
	text_add(out, "Percentages are of ");
	number_add_any_time(out, filter_kept_ns(filter));
	if (*filter_description(filter) == '\0') {
		text_add(out, ", the lives of all threads that did something");
	} else {
		text_addf(out, ": %s, which is %.1f %% of the ", filter_description(filter),
			  number_percent(filter_kept_ns(filter), filter_whole_ns(filter)));
		number_add_any_time(out, filter_whole_ns(filter));
		text_add(out, " recorded");
	}
	add_idle(filter, out);
	text_add(out, ".");
}

static const char *which_time(const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);
	const char *clock = info->clock ? info->clock : "";

	if (profile_is_trace(profile))
		return strcmp(clock, "cpu") == 0
			       ? ", the CPU time of each thread from its first call to its "
				 "last"
			       : ", the time of each thread from its first call to its last";
	if (info->is_wall)
		return ", the lives of all threads";
	return strcmp(clock, "user") == 0 ? ", the user CPU time accounted for"
					  : ", the CPU time accounted for";
}

/* Whether the base is close enough to the CPU time in the head to need no mention. */
static bool is_base_plain(const struct selection *selection)
{
	const struct profile *profile = selection->profile;
	const struct profile_info *info = profile_get_info(profile);
	const uint64_t cpu_ns = account_cpu_ns(info);
	const uint64_t off_ns =
		selection->ns > cpu_ns ? selection->ns - cpu_ns : cpu_ns - selection->ns;

	return !selection->filter && selection->ns > 0 && !profile_is_trace(profile) &&
	       !profile_is_wall(profile) && !profile_is_saturated(profile) &&
	       off_ns <= cpu_ns / PLAIN_PART;
}

void selection_add_base(const struct selection *selection, const struct style *style,
			struct text *out)
{
	bool is_trace = profile_is_trace(selection->profile);
	struct text sentence = { 0 };

	if (is_base_plain(selection))
		return;
	if (selection->filter) {
		add_filtered_base(selection->filter, &sentence);
	} else if (selection->ns == 0) {
		text_add(&sentence,
			 is_trace ? "No call was traced."
				  : "No time was recorded: nothing that could be sampled used "
				    "any CPU time.");
	} else {
		text_add(&sentence, "Percentages are of ");
		number_add_any_time(&sentence, selection->ns);
		text_add(&sentence, which_time(selection->profile));
		text_add(&sentence, profile_get_info(selection->profile)->is_corrected
					    ? ", without what measuring took."
					    : ".");
	}
	if (profile_is_saturated(selection->profile))
		text_add(&sentence, " Some sums exceed 2^64 ns and are cut there, so the "
				    "percentages are wrong.");
	style_add_wrapped(out, style, 0, text_string(&sentence));
	text_add(out, "\n");
	text_done(&sentence);
}
