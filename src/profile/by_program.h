/*
 * by_program - the rows of a report by program: the sum over all processes of one name.
 *
 * A process's name is what the kernel calls its first thread (comm); a program that is
 * replaced by exec is a process of its own.  Rows have no callers: total is self.
 */
#pragma once

struct filter;
struct groups;
struct profile;

/*
 * As groups_make(), which has the rest of it to do.  With a filter a row counts only the
 * processes that have time, samples or calls behind it.
 */
void groups_make_by_program(const struct profile *profile, const struct filter *filter,
			    struct groups *out);
