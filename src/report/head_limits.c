/* Reports an exceeded budget (--overhead), where the measurement exceeds it clearly. */
#include "report/head.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/profile.h"
#include "report/account.h"
#include "report/number.h"

/* The uncertainty of measuring a budget's overhead. */
#define SLACK 1.05

/* Adds how long a trace was paused. */
static void add_throttled(struct text *out, const struct style *style,
			  const struct profile_info *info)
{
	if (info->throttled_ns == 0 || info->traced_life_ns < info->throttled_ns)
		return;
	const double part = 1 - (double)info->throttled_ns / (double)info->traced_life_ns;

	head_add_line(
		out, style, "partial",
		"--overhead %s paused tracing: traced %.0f %% of the time, and counts and "
		"times are of that part only",
		info->overhead ? info->overhead : "", 100 * part);
}

static void add_passed(struct text *out, const struct style *style,
		       const struct profile_info *info)
{
	const double cpu_ns = (double)account_cpu_ns(info);
	CLEANUP(text_done) struct text text = { 0 };

	if (!info->overhead || info->sampling_cost_ns == FIGURE_UNKNOWN || cpu_ns <= 0)
		return;
	const double took = 100 * (double)info->sampling_cost_ns / cpu_ns;
	const double starts = 100 * (double)info->starts_ns / cpu_ns;
	const double budget = strtod(info->overhead, NULL);

	if (took <= SLACK * budget)
		return;
	text_addf(&text, "--overhead %s was passed: sampling took %.1f %%", info->overhead,
		  took);
	if (info->starts > 0 && starts > budget / 10) {
		text_addf(&text, ", of it %.1f %% starts of ", starts);
		number_add_count(&text, info->starts);
		text_add(&text, info->starts == 1 ? " process" : " processes");
		text_add(&text, ", which no rate makes cheaper");
	}
	head_add_line(out, style, "budget", "%s", text_string(&text));
}

void head_add_limits(struct text *out, const struct style *style, const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);

	if (profile_is_trace(profile))
		add_throttled(out, style, info);
	else
		add_passed(out, style, info);
}
