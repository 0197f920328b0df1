/* Shared by the files that write a report's head. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "report/number.h"

struct profile;
struct style;

/* The width of the labels of a head's lines, with the space after them. */
enum { LABEL_COLUMNS = 9 };

static inline const char *head_plural(size_t count)
{
	return count == 1 ? "" : "s";
}

/* Adds "1.2 s (3.4 %)". */
static inline void head_add_share_of(struct text *text, uint64_t ns, uint64_t whole_ns)
{
	number_add_any_time(text, ns);
	text_addf(text, " (%.1f %%)", number_percent(ns, whole_ns));
}

/*
 * Add parts of sentences: "1.2 s of CPU time in 2.3 s (0.52 CPUs busy), "; and for the wall
 * clock.
 */
void head_cpu_time(struct text *text, const struct profile *profile);
void head_wall_time(struct text *text, const struct profile *profile);
/* Adds ", not finished: …", or nothing. */
void head_end(struct text *text, const struct profile *profile);
/* Adds "about 2.3 %". */
void head_cost_share(struct text *text, uint64_t cost_ns, uint64_t whole_ns);
/* Adds the line "time" for the wall clock. */
void head_add_wall_time(struct text *out, const struct style *style,
			const struct profile *profile);
/* Adds the line "children", of the wall clock, if there is much to say. */
void head_add_children(struct text *out, const struct style *style,
		       const struct profile *profile);
