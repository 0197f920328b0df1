/*
 * summary - the first screen of a report: what ran, the hot paths of own code, the functions
 * with most self time, and suggested next steps.
 */
#pragma once

struct report_options;
struct selection;
struct style;
struct text;

void summary_add(const struct selection *selection, const struct report_options *options,
		 const struct style *style, struct text *out);
