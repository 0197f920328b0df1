/*
 * nameless - how much of the time is in stripped code, of which no function's name is known, and where
 * names can be had.
 */
#pragma once

struct report_options;
struct selection;
struct style;
struct text;

/* One sentence, or nothing where that is little; options->package_of names the package. */
void nameless_add(const struct selection *selection, const struct report_options *options,
		  const struct style *style, struct text *out);
