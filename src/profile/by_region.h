/*
 * by_region - the rows of a report by region: stretches of time that the program named itself.
 *
 * A region's self is the time in which no other was begun inside of it; its total has those,
 * too.  The rest of the time is "[no region]".
 */
#pragma once

struct filter;
struct groups;
struct profile;

/* As groups_make(), which has the rest of it to do. */
void groups_make_by_region(const struct profile *profile, const struct filter *filter,
			   struct groups *out);
