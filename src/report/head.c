#include "report/head.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/profile.h"
#include "profile/sum.h"
#include "report/account.h"
#include "report/number.h"
#include "report/shell_word.h"

enum {
	LABEL_COLUMNS = 9,
	/* Per mille: what is missing is shown in every head from this share. */
	MISSING_SHOWN = 10,
	/* Per cent of a CPU: below, a program waited more than it computed. */
	MOSTLY_BUSY = 50,
	/* What was clipped is shown from this part of what measuring took on. */
	CLIPPED_PART = 100,
	/* And what no sample stands for from this part of the time. */
	THREAD_ONLY_PART = 100,
};
/* A slowdown further from 1 than that is shown. */
#define SLOWDOWN_SHOWN 0.1

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

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
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
			  number_percent(cpu_ns, info->wall_ns) < MOSTLY_BUSY && !is_user
				  ? ": it mostly waited"
				  : "");
	}
	text_add(text, ", ");
}

void head_add_time(struct text *out, const struct style *style, const struct profile *profile)
{
	size_t processes = profile_process_count(profile);
	size_t threads = profile_thread_count(profile);
	struct text text = { 0 };

	add_cpu_time(&text, profile);
	text_addf(&text, "%zu process%s, %zu thread%s", processes, processes == 1 ? "" : "es",
		  threads, plural(threads));
	if (profile_get_info(profile)->is_unfinished)
		text_add(&text, ", not finished: it is still being written, or its recorder "
				"was killed");
	head_add_line(out, style, "time", "%s", text_string(&text));
	text_done(&text);
}

static void add_share_of(struct text *text, uint64_t ns, uint64_t whole_ns)
{
	number_add_any_time(text, ns);
	text_addf(text, " (%.1f %%)", number_percent(ns, whole_ns));
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
		text_add(&text, " Hz of CPU time");
	}
	if (info->rate_hz > 0) {
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
	if (info->thread_only_ns > account_cpu_ns(info) / THREAD_ONLY_PART) {
		text_add(&text, "; ");
		add_share_of(&text, info->thread_only_ns, account_cpu_ns(info));
		text_add(&text, " is known by thread only");
	}
	head_add_line(out, style, "samples", "%s", text_string(&text));
	text_done(&text);
}

/* What measuring took, of the times, and what is not known of it. */
static void add_measuring(struct text *out, const struct style *style,
			  const struct profile_info *info)
{
	CLEANUP(text_done) struct text text = { 0 };

	if (info->measuring_ns > 0) {
		add_share_of(&text, info->measuring_ns, info->raw_ns);
		text_add(&text, " ± ");
		add_share_of(&text, info->doubt_ns, info->raw_ns);
		text_addf(&text, " of %s %s",
			  info->is_corrected ? "the time was" : "these times is",
			  info->is_corrected ? "measuring, and is not in these times (--raw "
					       "shows them with it)"
					     : "measuring");
	}
	if (info->unknown_calls > 0) {
		text_add(&text,
			 text.len > 0 ? "; what it took of " : "what measuring took of ");
		number_add_count(&text, info->unknown_calls);
		text_add(&text, info->unknown_calls == 1
					? " call is not known, and is in its time"
					: " calls is not known, and is in their times");
	}
	if (info->clipped_ns > info->measuring_ns / CLIPPED_PART) {
		text_add(&text, "; functions whose own time is shorter than what measuring "
				"them takes would need ");
		number_add_any_time(&text, info->clipped_ns);
		text_add(&text, " less than none, and have none");
	}
	if (info->slowdown > 0 &&
	    (info->slowdown > 1 + SLOWDOWN_SHOWN || info->slowdown < 1 - SLOWDOWN_SHOWN))
		text_addf(&text,
			  "%sthe processor took %.2f times as long for the same as when it was "
			  "found out what a call takes, which is allowed for",
			  text.len > 0 ? "; " : "", info->slowdown);
	if (text.len > 0)
		head_add_line(out, style, "tracing", "%s", text_string(&text));
}

void head_add_calls(struct text *out, const struct style *style, const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);
	struct text text = { 0 };

	number_add_count(&text, info->calls);
	text_add(&text, " traced, on ");
	number_add_count(&text, profile_stack_count(profile));
	text_addf(&text, " different stack%s; times are by the %s clock",
		  plural(profile_stack_count(profile)), info->clock ? info->clock : "wall");
	head_add_line(out, style, "calls", "%s", text_string(&text));
	text_done(&text);
	add_measuring(out, style, info);
}

void head_add_only(struct text *out, const struct style *style, const struct profile_info *info)
{
	struct text text = { 0 };

	for (size_t i = 0; i < info->only_count; i++) {
		text_add(&text, i > 0 ? ", " : "");
		text_add_printable(&text, info->only[i], strlen(info->only[i]));
	}
	if (info->only_count > 0)
		head_add_line(
			out, style, "only",
			info->calls == 0
				? "%s: no function that was called has such a name or file"
				: "%s: other functions are not counted, and their time is "
				  "their callers'",
			text_string(&text));
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

/* A stack that was switched to has an outermost frame of its own. */
static bool is_whole(const struct stack_tally *tally)
{
	return strcmp(tally->reason, "complete") == 0 || strcmp(tally->reason, "switched") == 0;
}

/* All interpreted frames are there, and of the native ones the innermost. */
static bool is_whole_but_native(const struct stack_tally *tally)
{
	return strcmp(tally->reason, "made_code") == 0 ||
	       strcmp(tally->reason, "native_no_rule") == 0 ||
	       strcmp(tally->reason, "native_cut") == 0;
}

static uint64_t whole_stacks(const struct profile_info *info, uint64_t *out_all)
{
	bool is_saturated = false;
	uint64_t whole = 0;

	*out_all = 0;
	for (size_t i = 0; i < info->stack_tally_count; i++) {
		const struct stack_tally *tally = &info->stacks[i];
		sum_add(out_all, tally->samples, &is_saturated);
		if (is_whole(tally))
			sum_add(&whole, tally->samples, &is_saturated);
	}
	return whole;
}

void head_add_cost(struct text *out, const struct style *style, const struct profile_info *info)
{
	struct text text = { 0 };

	if (info->sampling_cost_ns == FIGURE_UNKNOWN) {
		text_add(&text, "of sampling: not known");
	} else {
		number_add_any_time(&text, info->sampling_cost_ns);
		text_addf(&text, " for the sampling itself, %.1f %% of the CPU time",
			  number_percent(info->sampling_cost_ns, account_cpu_ns(info)));
	}
	head_add_line(out, style, "cost", "%s", text_string(&text));
	text_done(&text);
}

static void add_missing(struct text *text, uint64_t part, uint64_t whole, const char *what)
{
	if (part == FIGURE_UNKNOWN || whole == FIGURE_UNKNOWN ||
	    number_percent(part, whole) * 10 <= MISSING_SHOWN)
		return;
	text_addf(text, "%s%.1f %% %s", text->len > 0 ? ", " : "", number_percent(part, whole),
		  what);
}

/* What a reader must know before believing the rest; nothing where all is as it should be. */
static void head_add_missing(struct text *out, const struct style *style,
			     const struct profile_info *info)
{
	const uint64_t cpu_ns = account_cpu_ns(info);
	CLEANUP(text_done) struct text text = { 0 };
	uint64_t all, whole = whole_stacks(info, &all);

	for (size_t i = 0; i < info->stack_tally_count; i++)
		if (is_whole_but_native(&info->stacks[i]))
			whole += info->stacks[i].samples;
	if (info->is_unfinished)
		text_add(&text, "the recording is not finished");
	add_missing(&text, all - whole, all, "of the stacks are cut short");
	add_missing(&text, info->lost, info->lost + info->samples, "of the samples are lost");
	add_missing(&text, info->unentered_ns, cpu_ns,
		    "of the CPU time is of processes that could not be sampled");
	add_missing(&text, info->thread_only_ns, cpu_ns, "is known by thread only");
	if (info->has_unexplained)
		add_missing(&text,
			    (uint64_t)(info->unexplained_ns < 0 ? -info->unexplained_ns
								: info->unexplained_ns),
			    cpu_ns, "is unexplained");
	for (size_t i = 0; i < info->interpreter_count; i++)
		if (info->interpreters[i].why_not)
			text_addf(&text, "%sfunctions of %s %s are not seen",
				  text.len > 0 ? ", " : "", info->interpreters[i].language,
				  info->interpreters[i].version);
	if (text.len > 0)
		head_add_line(out, style, "missing", "%s ('fathom info' has the details)",
			      text_string(&text));
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

static void add_sampled(struct text *text, const struct profile_info *info)
{
	if (info->sampled_ns > 0 && info->sampled_ns != FIGURE_UNKNOWN) {
		text_add(text, " at ");
		number_add_count(text, (uint64_t)((double)info->samples * 1e9 /
							  (double)info->sampled_ns +
						  0.5));
		text_add(text, " Hz of CPU time");
	}
	if (info->lost == 0)
		text_add(text, ", none lost");
	if (info->sampling_cost_ns != FIGURE_UNKNOWN)
		text_addf(text, "; sampling itself took %.1f %%",
			  number_percent(info->sampling_cost_ns, account_cpu_ns(info)));
}

static void add_work(struct text *text, const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);

	if (profile_is_trace(profile)) {
		number_add_count(text, info->calls);
		text_addf(text, " call%s traced", plural(info->calls));
	} else {
		number_add_count(text, info->samples);
		text_addf(text, " sample%s", plural(info->samples));
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
	head_add_missing(out, style, info);
}

void head_add_short(struct text *out, const struct style *style, const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);
	CLEANUP(text_done) struct text text = { 0 };

	add_cpu_time(&text, profile);
	add_work(&text, profile);
	if (info->command_count > 0) {
		text_add(&text, ": ");
		add_command_words(&text, info);
	}
	add_cut_line(out, style, NULL, &text);
	head_add_only(out, style, info);
	head_add_missing(out, style, info);
}
