/*
 * branches - call trees as indented text.
 *
 * The heaviest calls are shown.  A function that passes all its time on to one callee stands
 * on one line with it: main → run → loop.
 */
#pragma once

struct error;
struct report_options;
struct selection;
struct style;
struct text;

/* The trees that options ask for.  -ENOENT or -EINVAL for a function that is not one. */
int branches_add(const struct selection *selection, const struct report_options *options,
		 const struct style *style, struct text *out, struct error *err);
