/* selection - the part of a profile that a report covers, and the base of its percentages. */
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
	uint64_t ns;           /* that percentages refer to */
};

/* -ENOENT if the thread or the module does not exist. Release with selection_done(). */
int selection_init(struct selection *selection, const struct profile *profile,
		   const struct report_options *options, struct error *err);
void selection_done(struct selection *selection);
/* Adds "Percentages are of …" and a newline; nothing if the base is the time in the head. */
void selection_add_base(const struct selection *selection, const struct style *style,
			struct text *out);
