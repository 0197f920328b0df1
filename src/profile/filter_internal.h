/* What the files of the filter share: one for each thing that an option names. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct error;
struct profile;
struct text;

/* A sentence names a few of many. */
enum { FILTER_NAMED_MAX = 5 };

/* One more of a list with commas, which ends in "..." beyond FILTER_NAMED_MAX. */
void filter_add_name(struct text *list, size_t *count, const char *name);

/*
 * Each adds to the description what is meant.  -ENOENT and a sentence with what there is when
 * nothing is.
 */
/* *keeps, by thread id, is the caller's; of a pid, or of all processes of the name. */
int filter_choose_processes(const struct profile *profile, const char *wanted, bool **keeps,
			    struct text *description, struct error *err);
/* Of a tid, or all of the name; of those that *keeps has, unless it is NULL: it is replaced. */
int filter_choose_threads(const struct profile *profile, const char *wanted, bool **keeps,
			  struct text *description, struct error *err);
/* is_meant, by function id: those in the module or source file. */
int filter_choose_functions(const struct profile *profile, const char *wanted, bool *is_meant,
			    struct text *description, struct error *err);
/* The same for those of a package, or one's own. */
int filter_choose_package(const struct profile *profile, const char *wanted, bool *is_meant,
			  struct text *description, struct error *err);
