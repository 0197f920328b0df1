/*
 * executable - whether a command can be run, asked before anything is done for it.
 */
#pragma once

struct error;

/*
 * Looks name up as execvp() does: 0, -ENOENT if there is no such command, -EACCES if there
 * is one that may not be run.  err may be NULL.
 */
int executable_check(const char *name, struct error *err);
/* The path of a file of this installation or build, found from where fathom itself is:
 * the first of the candidates, relative to its folder, that can be read.  NULL if none. */
char *executable_find_beside(const char *const *candidates);
