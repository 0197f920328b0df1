/*
 * search - looks for a program in PATH, as execvp() does.
 *
 * The agent has to know which file an exec will run, and libc's search cannot be interposed; so
 * we search, with the same results (posix/execvpe.c, glibc 2.36).
 */
#pragma once

/* Tries one file; returns a negative errno where exec of it would fail so. */
typedef int (*search_try)(void *context, const char *path);

/*
 * Tries `file` in each folder of PATH, or `file` itself if it has a slash, until one succeeds or
 * fails with an error that ends the search.  Returns that one's result, or the negative errno of
 * exec.  Async-signal-safe, as far as getenv() is.
 */
int search_path(const char *file, search_try try, void *context);
