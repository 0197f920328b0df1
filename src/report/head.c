#include "report/head.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/filter.h"
#include "profile/profile.h"
#include "profile/states.h"
#include "profile/sum.h"
#include "report/account.h"
#include "report/head_internal.h"
#include "report/missing.h"
#include "report/number.h"
#include "report/shell_word.h"

enum {
	LABEL_COLUMNS = 9,
	/* Per cent of a CPU: below, a program waited more than it computed. */
	MOSTLY_BUSY = 50,
	/* What no sample stands for is shown from this part of the time on. */
	THREAD_ONLY_PART = 100,
};
void head_add_line(struct text *out, const struct style *style, const char *label,
		   const char *format, ...)
{
	struct text safe = { 0 };
	char *sentence;
	va_list arguments;

	va_start(arguments, format);
	int len = vasprintf(&sentence, format, arguments);
	va_end(arguments);
	if (len < 0)
		return;
	style_add(out, style, TINT_BOLD, label);
	text_addf(out, "%*s", LABEL_COLUMNS - (int)strlen(label), "");
	text_add_printable(&safe, sentence, (size_t)len);
	style_add_wrapped(out, style, LABEL_COLUMNS, text_string(&safe));
	text_add(out, "\n");
	text_done(&safe);
	freep(&sentence);
}

void head_add_command(struct text *out, const struct style *style,
		      const struct profile_info *info)
{
	struct text command = { 0 };

	if (info->command_count == 0)
		return;
	for (size_t i = 0; i < info->command_count; i++) {
		if (i > 0)
			text_add(&command, " ");
		shell_word_add(&command, info->command[i]);
	}
	head_add_line(out, style, "command", "%s", text_string(&command));
	text_done(&command);
}

/* Nothing of a trace that was not ended: its calls' times are of a clock that waits with them. */
static void add_cpu_time(struct text *text, const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);
	const bool is_user = info->clock && strcmp(info->clock, "user") == 0;
	const uint64_t cpu_ns = account_cpu_ns(info);

	if (profile_is_trace(profile) && info->kernel_cpu_ns == FIGURE_UNKNOWN)
		return;
	number_add_any_time(text, cpu_ns);
	text_add(text, is_user ? " of user CPU time" : " of CPU time");
	if (info->wall_ns != FIGURE_UNKNOWN && info->wall_ns > 0) {
		text_add(text, " in ");
		number_add_any_time(text, info->wall_ns);
		text_addf(text, " (%.2f CPUs busy%s)", (double)cpu_ns / (double)info->wall_ns,
			  number_percent(cpu_ns, info->wall_ns) < MOSTLY_BUSY && !is_user &&
					  !profile_is_trace(profile)
				  ? ": mostly waiting; --clock wall shows where"
			  : number_percent(cpu_ns, info->wall_ns) < MOSTLY_BUSY && !is_user
				  ? ": it mostly waited"
				  : "");
	}
	text_add(text, ", ");
}

/* "61 % sleep, 20 % io, 3 % running": what is a percent and more. */
static void add_states(struct text *text, const struct state_sums *sums)
{
	enum thread_state order[THREAD_STATE_COUNT];
	const size_t count = states_order(sums, order);

	for (size_t i = 0; i < count; i++) {
		const double percent = number_percent(sums->ns[order[i]], sums->whole_ns);

		if (percent >= 1 || i == 0)
			text_addf(text, "%s%.0f %% %s", i > 0 ? ", " : "", percent,
				  thread_state_name(order[i]));
	}
}

static void add_wall_time(struct text *text, const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);
	const struct filter_options busy = { .is_without_idle = true };
	CLEANUP(filter_freep) struct filter *filter = NULL;
	struct state_sums sums;

	if (filter_new(profile, &busy, &filter, NULL) < 0)
		filter = NULL;
	states_sum(profile, filter, &sums);
	if (info->wall_ns != FIGURE_UNKNOWN && info->wall_ns > 0) {
		number_add_any_time(text, info->wall_ns);
		text_add(text, "; ");
	}
	text_addf(text, "%zu thread%s lived ", sums.threads, sums.threads == 1 ? "" : "s");
	number_add_any_time(text, sums.whole_ns);
	if (sums.whole_ns > 0) {
		text_addf(text, "%s: ", sums.threads == 1 ? "" : " together");
		add_states(text, &sums);
	}
	const struct idle idle = filter_idle(filter);

	if (idle.threads > 0) {
		text_addf(text, "; beside %zu idle one%s, ", idle.threads,
			  head_plural(idle.threads));
		number_add_any_time(text, idle.ns);
	}
}

static void head_add_wall_time(struct text *out, const struct style *style,
			       const struct profile *profile)
{
	CLEANUP(text_done) struct text text = { 0 };

	add_wall_time(&text, profile);
	if (profile_get_info(profile)->is_unfinished)
		text_add(&text, ", not finished: it is still being written, or its recorder "
				"was killed");
	head_add_line(out, style, "time", "%s", text_string(&text));
}

void head_add_time(struct text *out, const struct style *style, const struct profile *profile)
{
	size_t processes = profile_process_count(profile);
	size_t threads = profile_thread_count(profile);
	struct text text = { 0 };

	if (profile_is_wall(profile)) {
		head_add_wall_time(out, style, profile);
		return;
	}
	add_cpu_time(&text, profile);
	text_addf(&text, "%zu process%s, %zu thread%s", processes, processes == 1 ? "" : "es",
		  threads, head_plural(threads));
	if (profile_get_info(profile)->is_unfinished)
		text_add(&text, ", not finished: it is still being written, or its recorder "
				"was killed");
	head_add_line(out, style, "time", "%s", text_string(&text));
	text_done(&text);
}

void head_add_samples(struct text *out, const struct style *style,
		      const struct profile_info *info)
{
	struct text text = { 0 };

	number_add_count(&text, info->samples);
	if (info->sampled_ns > 0 && info->sampled_ns != FIGURE_UNKNOWN) {
		double seconds = (double)info->sampled_ns / 1e9;
		text_add(&text, " at ");
		number_add_count(&text, (uint64_t)((double)info->samples / seconds + 0.5));
		text_add(&text, info->is_wall ? " Hz of all threads' time" : " Hz of CPU time");
	}
	if (info->overhead) {
		text_addf(&text, " (--overhead %s)", info->overhead);
	} else if (info->rate_hz > 0) {
		text_add(&text, " (asked for ");
		number_add_count(&text, info->rate_hz);
		text_add(&text, " Hz)");
	}
	if (info->lost == 0) {
		text_add(&text, ", none lost");
	} else {
		text_add(&text, ", ");
		number_add_count(&text, info->lost);
		text_addf(&text, " lost (%.1f %%)",
			  100 * (double)info->lost /
				  ((double)info->lost + (double)info->samples));
	}
	if (!info->is_wall && info->thread_only_ns > account_cpu_ns(info) / THREAD_ONLY_PART) {
		text_add(&text, "; ");
		head_add_share_of(&text, info->thread_only_ns, account_cpu_ns(info));
		text_add(&text, " is known by thread only");
	}
	head_add_line(out, style, "samples", "%s", text_string(&text));
	text_done(&text);
}

void head_add_trigger(struct text *out, const struct style *style,
		      const struct profile_info *info)
{
	if (!info->trigger)
		return;
	head_add_line(out, style, "trigger", "%s, clock %s%s%s", info->trigger,
		      info->clock ? info->clock : "cpu", info->trigger_why ? ": " : "",
		      info->trigger_why ? info->trigger_why : "");
}

/* The model is good to a third; of what is below a hundredth it says no more than that. */
static void add_cost_share(struct text *text, uint64_t cost_ns, uint64_t whole_ns)
{
	const double percent = number_percent(cost_ns, whole_ns);

	if (percent < 1)
		text_add(text, "less than 1 %");
	else
		text_addf(text, "about %.*f %%", percent < 10 ? 1 : 0, percent);
}

void head_add_cost(struct text *out, const struct style *style, const struct profile_info *info)
{
	struct text text = { 0 };

	if (info->sampling_cost_ns == FIGURE_UNKNOWN) {
		text_add(&text, "of sampling: not known");
	} else {
		number_add_any_time(&text, info->sampling_cost_ns);
		text_add(&text, " for the sampling itself");
		if (!info->is_wall || info->kernel_cpu_ns != FIGURE_UNKNOWN) {
			text_add(&text, ", ");
			add_cost_share(&text, info->sampling_cost_ns,
				       info->is_wall ? info->kernel_cpu_ns
						     : account_cpu_ns(info));
			text_add(&text, " of the programs' CPU time");
		}
	}
	head_add_line(out, style, "cost", "%s", text_string(&text));
	text_done(&text);
}

/* One line, cut where the terminal ends. */
static void add_cut_line(struct text *out, const struct style *style, const char *label,
			 const struct text *sentence)
{
	CLEANUP(text_done) struct text safe = { 0 };
	const unsigned int taken = label ? LABEL_COLUMNS : 0;

	if (label) {
		style_add(out, style, TINT_BOLD, label);
		text_addf(out, "%*s", LABEL_COLUMNS - (int)strlen(label), "");
	}
	text_add_printable(&safe, text_string(sentence), sentence->len);
	style_add_cut_end(out, text_string(&safe),
			  style->width > taken ? style->width - taken : SIZE_MAX);
	text_add(out, "\n");
}

static void add_command_words(struct text *text, const struct profile_info *info)
{
	for (size_t i = 0; i < info->command_count; i++) {
		text_add(text, i > 0 ? " " : "");
		shell_word_add(text, info->command[i]);
	}
}

static void head_add_missing(struct text *out, const struct style *style,
			     const struct profile *profile)
{
	CLEANUP(text_done) struct text text = { 0 };
	CLEANUP(text_done) struct text unentered = { 0 };

	missing_add(&text, profile_get_info(profile));
	missing_add_unentered(&unentered, profile);
	if (text.len > 0)
		head_add_line(out, style, "missing", "%s ('fathom info' has the details)",
			      text_string(&text));
	if (unentered.len > 0)
		head_add_line(out, style, "", "%s", text_string(&unentered));
}

static void add_sampled(struct text *text, const struct profile_info *info)
{
	if (info->is_wall) {
		text_add(text, " and reads of waits");
	} else if (info->sampled_ns > 0 && info->sampled_ns != FIGURE_UNKNOWN) {
		text_add(text, " at ");
		number_add_count(text, (uint64_t)((double)info->samples * 1e9 /
							  (double)info->sampled_ns +
						  0.5));
		text_add(text, " Hz of CPU time");
	}
	if (info->lost == 0)
		text_add(text, ", none lost");
	if (info->sampling_cost_ns != FIGURE_UNKNOWN && !info->is_wall) {
		text_add(text, "; sampling itself took ");
		add_cost_share(text, info->sampling_cost_ns, account_cpu_ns(info));
	}
}

static void add_work(struct text *text, const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);

	if (profile_is_trace(profile)) {
		number_add_count(text, info->calls);
		text_addf(text, " call%s traced", head_plural(info->calls));
	} else {
		number_add_count(text, info->samples);
		text_addf(text, " sample%s", head_plural(info->samples));
	}
}

void head_add_summary(struct text *out, const struct style *style,
		      const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);
	CLEANUP(text_done) struct text command = { 0 };
	CLEANUP(text_done) struct text samples = { 0 };

	add_command_words(&command, info);
	if (info->command_count > 0)
		add_cut_line(out, style, "command", &command);
	head_add_time(out, style, profile);
	if (profile_is_trace(profile)) {
		head_add_calls(out, style, profile);
		head_add_only(out, style, info);
	} else {
		number_add_count(&samples, info->samples);
		add_sampled(&samples, info);
		head_add_line(out, style, "samples", "%s", text_string(&samples));
	}
	head_add_limits(out, style, profile);
	head_add_missing(out, style, profile);
}

void head_add_short(struct text *out, const struct style *style, const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);
	CLEANUP(text_done) struct text text = { 0 };

	if (profile_is_wall(profile)) {
		add_wall_time(&text, profile);
		text_add(&text, "; ");
	} else {
		add_cpu_time(&text, profile);
	}
	add_work(&text, profile);
	if (info->command_count > 0) {
		text_add(&text, ": ");
		add_command_words(&text, info);
	}
	add_cut_line(out, style, NULL, &text);
	head_add_only(out, style, info);
	head_add_limits(out, style, profile);
	head_add_missing(out, style, profile);
}
