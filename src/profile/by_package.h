/*
 * by_package - the rows of a report by package: own code, each package and library, and imports.
 */
#pragma once

struct filter;
struct groups;
struct profile;

/*
 * All of one's own code is one row, and what modules that are not one's own take to be imported
 * another, whatever packages do it.  See group.h.
 */
void groups_make_by_package(const struct profile *profile, const struct filter *filter,
			    struct groups *out);
