/*
 * whole_name - completes the names of processes, which the kernel cuts at 15 bytes, by their
 * titles.
 *
 * "gunicorn: worke" of a process titled "gunicorn: worker [application]" is "gunicorn: worker".
 * A title may be unknown, as that of a brief process: then the whole name of others is used, if
 * theirs agree.
 */
#pragma once
#include "base/table.h"

/* Zero-initialized: none are known. */
struct whole_names {
	struct table by_name; /* to the string's number + 1, or to 0 where titles disagree */
};

/*
 * A process's whole name, by its title (NULL: none), as a string of strings; NULL if the title
 * does not show it.
 */
const char *whole_name_of(struct intern *strings, const char *name, const char *title);
/* Notes that a process of that name has that whole name; both are of strings. */
void whole_names_add(struct whole_names *names, struct intern *strings, const char *name,
		     const char *whole);
/* The whole name, or the name. */
const char *whole_names_find(const struct whole_names *names, const struct intern *strings,
			     const char *name);
void whole_names_done(struct whole_names *names);
