/*
 * group - makes the rows of a report: by function, line, module, region, thread, process or
 * program.
 *
 * Recursion counts once in every row's total. A thread, a process or a program has no callers:
 * its total is its self.
 */
#pragma once
#include <stdbool.h>

#include "profile/groups.h"

struct filter;

/* "function", "line", … */
const char *group_by_name(enum group_by by);
/* Stores the grouping of that name in *out_by; false: there is none. */
bool group_by_parse(const char *name, enum group_by *out_by);

/*
 * Rows without time and samples are left out, except threads, processes and programs if there
 * is no filter. Sorted by self, then total, then name. filter may be NULL. Names live as long
 * as the profile. Release with groups_done().
 */
void groups_make(const struct profile *profile, enum group_by by, const struct filter *filter,
		 struct groups *out);
void groups_sort_by_total(struct groups *groups);
/* For traces: by number of calls. */
void groups_sort_by_calls(struct groups *groups);
void groups_done(struct groups *groups);
