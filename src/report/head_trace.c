/* Writes the head's lines about a trace: its calls, and what measuring them cost. */
#include "report/head.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/profile.h"
#include "report/head_internal.h"
#include "report/number.h"

/* Clipped time is shown if it is at least 1/CLIPPED_PART of the measuring cost. */
#define CLIPPED_PART 100
/* A slowdown is shown if it differs from 1 by more than this. */
#define SLOWDOWN_SHOWN 0.1

/* Adds the measuring cost within the times, and what is uncertain about it. */
static void add_measuring(struct text *out, const struct style *style,
			  const struct profile_info *info)
{
	CLEANUP(text_done) struct text text = { 0 };

	if (info->measuring_ns > 0) {
		head_add_share_of(&text, info->measuring_ns, info->raw_ns);
		text_add(&text, " ± ");
		head_add_share_of(&text, info->uncertainty_ns, info->raw_ns);
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
		text_add(&text,
			 "; some functions' own time is shorter than what measuring them "
			 "should have taken, by ");
		number_add_any_time(&text, info->clipped_ns);
		text_add(&text, ": it is shown as 0");
	}
	if (info->slowdown > 0 &&
	    (info->slowdown > 1 + SLOWDOWN_SHOWN || info->slowdown < 1 - SLOWDOWN_SHOWN))
		text_addf(
			&text,
			"%sthe processor took %.2f times as long for the same work as when the "
			"cost of a call was measured, which is corrected for",
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
		  head_plural(profile_stack_count(profile)),
		  info->clock ? info->clock : "wall");
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
