/*
 * search - where a program without a slash in its name is looked for.
 *
 * The agent has to know which file an exec will run, and libc searches within itself; so we
 * search, and give the same answers (posix/execvpe.c, glibc 2.36).
 */
#pragma once

/* Tries one file; a negative errno if it is not to be, as exec would fail. */
typedef int (*search_try)(void *context, const char *path);

/*
 * Tries `file` in each folder of PATH, or `file` itself if it has a slash, until one is not
 * refused for a reason that lets the search go on.  Returns that one's result, or the errno
 * exec would have, negative.  Async-signal-safe, as far as getenv() is.
 */
int search_path(const char *file, search_try try, void *context);
