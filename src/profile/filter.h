/*
 * filter - the part of a profile that was asked for: a process, a thread, a module, a package.
 *
 * A weight passes when its thread is meant and its innermost frame is in a module and a
 * package that are meant: "the time of libz" is the time spent in libz's own code.  Stacks stay whole, so
 * callers in other modules keep their totals of that time.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "profile/idle.h"

struct error;
struct filter;
struct profile;
struct weight;

/* As the user named them; NULL: all. */
struct filter_options {
	const char *process; /* a pid, or a name: every process that has it */
	const char *thread;  /* a tid, or a name: every thread that has it */
	const char *state;   /* of the wall clock: as thread_state_name() has it */
	const char *
		module; /* a path, a file name, or a part of one; of a source file for Python */
	const char *package; /* packages.h: its name or a part of it; "own": one's own code */
	bool is_without_idle; /* of the wall clock: idle.h; said by filter_idle(), not described */
};

/*
 * -ENOENT and a sentence with what there is when nothing is meant.  *out_filter is NULL when
 * nothing was asked for, else the caller's: filter_free().  It borrows the profile, whose
 * weights may not be added to while it is used.
 */
int filter_new(const struct profile *profile, const struct filter_options *options,
	       struct filter **out_filter, struct error *err);
/*
 * Leaves only what passes in the profile, and says in its info what that is: for exports, which
 * know no filter.  Fails as filter_new() does; the profile is whole then.
 */
int filter_apply(struct profile *profile, const struct filter_options *options,
		 struct error *err);
void filter_free(struct filter *filter);
void filter_freep(struct filter **filter);

/* A NULL filter keeps everything. */
bool filter_keeps(const struct filter *filter, const struct weight *weight);
/*
 * What its time is, for a sentence: "thread worker (tid 12)", "code of libz.so.1".  Safe to
 * print, as every sentence of this room: bytes of names are escaped.
 */
const char *filter_description(const struct filter *filter);
/* The threads that are left out because they are idle; none of another filter, or NULL. */
struct idle filter_idle(const struct filter *filter);
/* What passes, and what there is but for idle threads. */
uint64_t filter_kept_ns(const struct filter *filter);
uint64_t filter_whole_ns(const struct filter *filter);
