/*
 * by_program - rows of a report by program: sums over all processes of one name.
 *
 * A process's name is the kernel's for its first thread (comm); exec begins another process
 * here. Rows have no callers: total is self.
 */
#pragma once

struct filter;
struct groups;
struct profile;

/*
 * Like groups_make(), which calls it and does the rest. With a filter a row counts only
 * processes with time, samples or calls that pass it.
 */
void groups_make_by_program(const struct profile *profile, const struct filter *filter,
			    struct groups *out);
