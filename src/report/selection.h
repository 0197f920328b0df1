/*
 * selection - the part of a profile a report is about, and what its percentages are of.
 */
#pragma once
#include <stdint.h>

#include "profile/filter.h"

struct error;
struct profile;
struct report_options;
struct style;
struct text;

struct selection {
	const struct profile *profile;
	struct filter *filter; /* NULL: everything */
	uint64_t ns;           /* what percentages are of */
};

/* -ENOENT when the thread or the module is not there.  Release with selection_done(). */
int selection_init(struct selection *selection, const struct profile *profile,
		   const struct report_options *options, struct error *err);
void selection_done(struct selection *selection);
/* "Percentages are of …" and a newline; nothing where that is the time in the head. */
void selection_add_base(const struct selection *selection, const struct style *style,
			struct text *out);
