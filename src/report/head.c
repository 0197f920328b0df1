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
	/* Per cent of a CPU: below this, a program waited more than it computed. */
	MOSTLY_BUSY = 50,
	/*
	 * Time of threads too short for a sample is shown from 1/THREAD_ONLY_PART of the whole
	 * on.
	 */
	THREAD_ONLY_PART = 100,
	/*
	 * A machine counts as full if less than 1/SPARE_PART of its processors' time was idle.
	 */
	SPARE_PART = 10,
	MEASURED_NS = 100000000,
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

/* The kernel counts processors' time in ticks, so shorter times are not meaningful. */
static bool is_measured(const struct profile_info *info)
{
	return info->wall_ns >= MEASURED_NS;
}

bool head_was_machine_full(const struct profile_info *info)
{
	return is_measured(info) && info->machine_ns != FIGURE_UNKNOWN &&
	       info->machine_ns > 0 && info->machine_idle_ns != FIGURE_UNKNOWN &&
	       info->machine_idle_ns < info->machine_ns / SPARE_PART;
}

/* Adds why less than half a processor was used: the program waited, or others ran. */
static void add_why_idle(struct text *text, const struct profile *profile, uint64_t cpu_ns)
{
	const struct profile_info *info = profile_get_info(profile);

	if (!head_was_machine_full(info)) {
		text_add(text, is_measured(info) ? ": mostly waiting" : "");
		if (is_measured(info) && head_is_waiting(profile))
			text_add(text, "; --clock wall shows where");
		return;
	}
	const uint64_t busy_ns = info->machine_ns - info->machine_idle_ns;
	const uint64_t others_ns = busy_ns > cpu_ns ? busy_ns - cpu_ns : 0;
	const uint64_t cpus = (info->machine_ns + info->wall_ns / 2) / info->wall_ns;

	text_addf(text, ": others used %.1f of %" PRIu64,
		  (double)others_ns / (double)info->machine_ns * (double)cpus, cpus);
}

/* Adds nothing for an unfinished trace: its calls' times include waits. */
void head_cpu_time(struct text *text, const struct profile *profile)
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
		text_addf(text, " (%.2f CPUs busy", (double)cpu_ns / (double)info->wall_ns);
		if (number_percent(cpu_ns, info->wall_ns) < MOSTLY_BUSY && !is_user)
			add_why_idle(text, profile, cpu_ns);
		text_add(text, ")");
	}
}

/* Adds "61 % sleep, 20 % io, 3 % running": the states with one per cent or more. */
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

void head_wall_time(struct text *text, const struct profile *profile)
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

void head_end(struct text *text, const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);

	if (info->is_being_written)
		text_add(text, " so far: it is still being written");
	else if (info->is_unfinished)
		text_add(text, ", not finished: its recorder was killed");
}

void head_add_wall_time(struct text *out, const struct style *style,
			const struct profile *profile)
{
	CLEANUP(text_done) struct text text = { 0 };

	head_wall_time(&text, profile);
	head_end(&text, profile);
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
	head_cpu_time(&text, profile);
	text_addf(&text, "%s%zu process%s, %zu thread%s", text.len > 0 ? ", " : "", processes,
		  processes == 1 ? "" : "es", threads, head_plural(threads));
	head_end(&text, profile);
	head_add_line(out, style, "time", "%s", text_string(&text));
	text_done(&text);
}

bool head_is_waiting(const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);

	return !profile_is_trace(profile) && !profile_is_wall(profile) &&
	       info->wall_ns != FIGURE_UNKNOWN && info->wall_ns > 0 &&
	       number_percent(account_cpu_ns(info), info->wall_ns) < MOSTLY_BUSY;
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
		text_add(&text, " is shorter than a sampling period");
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

/*
 * The cost model is accurate to a third; shares below a hundredth are not given more precisely.
 */
void head_cost_share(struct text *text, uint64_t cost_ns, uint64_t whole_ns)
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
			head_cost_share(&text, info->sampling_cost_ns,
					info->is_wall ? info->kernel_cpu_ns
						      : account_cpu_ns(info));
			text_add(&text, " of the programs' CPU time");
		}
	}
	head_add_line(out, style, "cost", "%s", text_string(&text));
	text_done(&text);
}
