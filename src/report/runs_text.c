#include "report/runs_text.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/compare.h"
#include "profile/runs.h"
#include "profile/statistics.h"
#include "report/compared.h"
#include "report/number.h"
#include "report/shell_word.h"
#include "report/style.h"

/* A warm-up run that differs by less is not mentioned. */
#define WARM_UP_SHARE 0.05

static uint64_t in_ns(double ns)
{
	return ns > 0 ? (uint64_t)(ns + 0.5) : 0;
}

static void add_command(struct text *out, const char *const *command)
{
	CLEANUP(text_done) struct text words = { 0 };

	for (size_t i = 0; command[i]; i++) {
		text_add(&words, i > 0 ? " " : "");
		shell_word_add(&words, command[i]);
	}
	text_add_printable(out, text_string(&words), strlen(text_string(&words)));
}

static void add_count(struct text *out, const struct runs_shown *runs)
{
	const struct runs_side *side = &runs->sides[0];

	text_addf(out, "%zu run%s%s", side->count, side->count == 1 ? "" : "s",
		  runs->side_count == 2 ? " each, in random order" : "");
	if (runs->is_clear)
		text_addf(out, ", of %zu at most: the total's verdict is clear", runs->most);
	else if (side->count < runs->most)
		text_addf(out, ", of %zu: it was stopped", runs->most);
	text_add(out, ", after one to warm up.");
}

/* Adds "total 307.9 ms ±1.2 %, from 301.0 to 315.2 ms", over one command's runs. */
static void add_spread(struct text *out, const char *title, const double *times, size_t count)
{
	const struct time_unit *unit = time_unit_for(in_ns(runs_median(times, count)));
	double mean = 0, squares = 0, least = INFINITY, most = 0;

	for (size_t i = 0; i < count; i++) {
		mean += times[i] / (double)count;
		least = fmin(least, times[i]);
		most = fmax(most, times[i]);
	}
	for (size_t i = 0; i < count; i++)
		squares += (times[i] - mean) * (times[i] - mean);
	text_addf(out, "%-8s", title);
	number_add_time(out, unit, in_ns(mean));
	if (count > 1 && mean > 0)
		text_addf(out, " ±%.1f %%",
			  100 / mean * statistics_t_95((double)(count - 1)) *
				  sqrt(squares / (double)(count - 1) / (double)count));
	text_add(out, ", from ");
	number_add_time(out, unit, in_ns(least));
	text_add(out, " to ");
	number_add_time(out, unit, in_ns(most));
	text_add(out, "\n");
}

void runs_add_head(const struct runs_shown *runs, const struct style *style, struct text *out)
{
	const struct runs_side *first = &runs->sides[0];
	CLEANUP(text_done) struct text sentence = { 0 };

	if (runs->side_count == 2) {
		add_command(&sentence, runs->sides[1].command);
		text_add(&sentence, " (after) against ");
		add_command(&sentence, first->command);
		text_add(&sentence, " (before): ");
	} else {
		add_command(&sentence, first->command);
		text_add(&sentence, ": ");
	}
	add_count(&sentence, runs);
	style_add_wrapped(out, style, 0, text_string(&sentence));
	text_add(out, "\n");
	if (runs->side_count == 2)
		return;
	add_spread(out, "total", first->total_ns, first->count);
	add_spread(out, "elapsed", first->elapsed_ns, first->count);
}

static void add_elapsed(const struct runs_shown *runs, const struct style *style,
			struct text *out)
{
	const double *const times[] = { runs->sides[0].elapsed_ns, runs->sides[1].elapsed_ns };
	const size_t counts[] = { runs->sides[0].count, runs->sides[1].count };

	if (counts[0] < 2 || counts[1] < 2)
		return;
	const struct change change = change_over_runs(times, counts, runs->margin);

	compared_add_change("elapsed ", &change, true, style, out);
}

static void add_outliers(const struct runs_side *side, const struct style *style,
			 struct text *out)
{
	const double median = runs_median(side->total_ns, side->count);

	for (size_t i = 0; i < side->count; i++) {
		CLEANUP(text_done) struct text sentence = { 0 };

		if (!runs_is_outlier(side->total_ns, side->count, side->total_ns[i]))
			continue;
		text_add(&sentence, "Outlier: ");
		text_add_printable(&sentence, side->paths[i], strlen(side->paths[i]));
		text_add(&sentence, ", ");
		number_add_any_time(&sentence, in_ns(side->total_ns[i]));
		text_addf(&sentence,
			  ", is %+.0f %% off the median. It is counted all the same.",
			  100 * (side->total_ns[i] / median - 1));
		style_add_wrapped(out, style, 0, text_string(&sentence));
		text_add(out, "\n");
	}
}

static void add_warm_up(const struct runs_side *side, struct text *out)
{
	const double median = runs_median(side->total_ns, side->count);

	if (median <= 0 || fabs(side->warm_up_ns / median - 1) < WARM_UP_SHARE)
		return;
	text_addf(out, "Warm-up%s%s took ", side->title ? " " : "",
		  side->title ? side->title : "");
	number_add_any_time(out, in_ns(side->warm_up_ns));
	text_addf(out, ", %+.0f %%: it is not counted.\n",
		  100 * (side->warm_up_ns / median - 1));
}

/* Suggests commands on lines of their own, so that they can be copied unbroken. */
static void add_next(const struct runs_shown *runs, struct text *out)
{
	text_add(out, runs->side_count == 2 ? "The runs in the middle:\n"
					    : "The run in the middle:\n");
	for (size_t i = 0; i < runs->side_count; i++) {
		const struct runs_side *side = &runs->sides[i];

		text_add(out, "fathom report ");
		shell_word_add(
			out, side->paths[runs_nearest_to_median(side->total_ns, side->count)]);
		text_add(out, "\n");
	}
}

void runs_add_end(const struct runs_shown *runs, const struct style *style, struct text *out)
{
	if (runs->side_count == 2)
		add_elapsed(runs, style, out);
	for (size_t i = 0; i < runs->side_count; i++) {
		add_warm_up(&runs->sides[i], out);
		add_outliers(&runs->sides[i], style, out);
	}
	add_next(runs, out);
}
