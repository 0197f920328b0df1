/* Shared by the files of the filter, of which there is one for each kind of option. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct error;
struct profile;
struct text;

/* Names listed in one sentence. */
enum { FILTER_NAMED_MAX = 5 };

/* Adds one more to a comma-separated list, which ends in "..." beyond FILTER_NAMED_MAX. */
void filter_add_name(struct text *list, size_t *count, const char *name);

/*
 * Each adds the matches to the description. -ENOENT and a sentence that lists the alternatives
 * if nothing matches.
 */
/* By pid, or all processes of the name. keeps, by thread id, is the caller's. */
int filter_choose_processes(const struct profile *profile, const char *wanted, bool **keeps,
			    struct text *description, struct error *err);
/*
 * By tid, or all threads of the name, among those in *keeps unless it is NULL; replaces *keeps.
 */
int filter_choose_threads(const struct profile *profile, const char *wanted, bool **keeps,
			  struct text *description, struct error *err);
/* By module or source file. is_meant is by function id. */
int filter_choose_functions(const struct profile *profile, const char *wanted, bool *is_meant,
			    struct text *description, struct error *err);
/* By package, or own code. */
int filter_choose_package(const struct profile *profile, const char *wanted, bool *is_meant,
			  struct text *description, struct error *err);
