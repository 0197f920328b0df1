/*
 * nameless - reports how much time is in stripped code without function names, and where to get
 * names.
 */
#pragma once

struct report_options;
struct selection;
struct style;
struct text;

/*
 * Adds one sentence, or nothing if that time is little; options->package_of names the package.
 */
void nameless_add(const struct selection *selection, const struct report_options *options,
		  const struct style *style, struct text *out);
