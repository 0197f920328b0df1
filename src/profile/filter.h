/*
 * filter - selects a part of a profile: a process, a thread, a state, a module, a package.
 *
 * A weight passes if its thread matches and its innermost frame is in a matching module and
 * package: "the time of libz" is the time spent in libz's own code. Stacks stay whole, so
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

/* Patterns given by the user; NULL: all. */
struct filter_options {
	const char *process; /* a pid, or a name: every process that has it */
	const char *thread;  /* a tid, or a name: every thread that has it */
	const char *state;   /* on the wall clock: as thread_state_name() gives it */
	const char *
		module; /* a path, a file name, or a part of one; of a source file for Python */
	const char *package; /* packages.h: its name or a part of it; "own": own code */
	/* On the wall clock: without idle threads (idle.h); see filter_idle(). */
	bool is_without_idle;
};

/*
 * -ENOENT and a sentence that lists the alternatives if nothing matches. *out_filter is NULL if
 * options select everything, else the caller's: filter_free(). It borrows the profile; no
 * weights may be added while it is used.
 */
int filter_new(const struct profile *profile, const struct filter_options *options,
	       struct filter **out_filter, struct error *err);
/*
 * Removes everything else from the profile, and describes the part in its info: for exports,
 * which take no filter. Fails as filter_new() does, without changing the profile.
 */
int filter_apply(struct profile *profile, const struct filter_options *options,
		 struct error *err);
void filter_free(struct filter *filter);
void filter_freep(struct filter **filter);

/* A NULL filter keeps everything. */
bool filter_keeps(const struct filter *filter, const struct weight *weight);
/*
 * Describes the part for a sentence: "thread worker (tid 12)", "code of libz.so.1". Safe to
 * print, as every sentence of this folder: bytes of names are escaped.
 */
const char *filter_description(const struct filter *filter);
/* The idle threads that are excluded; empty for other filters, or NULL. */
struct idle filter_idle(const struct filter *filter);
/* The time that passes, and all time except that of excluded idle threads. */
uint64_t filter_kept_ns(const struct filter *filter);
uint64_t filter_whole_ns(const struct filter *filter);
