/*
 * by_region - rows of a report by region: stretches of time that the program named through the
 * API.
 *
 * A region's self time is that without another region open inside of it; its total includes
 * these. Time outside of regions is "[no region]".
 */
#pragma once

struct filter;
struct groups;
struct profile;

/* Like groups_make(), which calls it and does the rest. */
void groups_make_by_region(const struct profile *profile, const struct filter *filter,
			   struct groups *out);
