/* by_package - rows of a report by package: own code, each package and library, and imports. */
#pragma once

struct filter;
struct groups;
struct profile;

/*
 * All own code is one row; the time to import modules that are not own code is another,
 * whatever package they are in. See group.h.
 */
void groups_make_by_package(const struct profile *profile, const struct filter *filter,
			    struct groups *out);
