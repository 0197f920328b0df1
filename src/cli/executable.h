/* executable - checks whether a command can be run, before any preparation for it. */
#pragma once

struct error;

/*
 * Looks name up as execvp() does: 0, -ENOENT if it is not found, -EACCES if it may not be
 * executed. err may be NULL.
 */
int executable_check(const char *name, struct error *err);
/*
 * Finds a file of this installation or build: the first readable one of the candidates, which
 * are relative to fathom's own folder. NULL if none.
 */
char *executable_find_beside(const char *const *candidates);
