/*
 * branches - prints call trees as indented text.
 *
 * The heaviest calls are shown. A function that passes all its time to one callee shares a line
 * with it: main → run → loop.
 */
#pragma once

struct error;
struct report_options;
struct selection;
struct style;
struct text;

/*
 * Adds the trees selected by options. -ENOENT or -EINVAL if a function's name matches none, or
 * several.
 */
int branches_add(const struct selection *selection, const struct report_options *options,
		 const struct style *style, struct text *out, struct error *err);
