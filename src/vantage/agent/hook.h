/*
 * hook - how an interposed function finds the one it stands before.
 */
#pragma once

typedef void (*hook_function)(void);

/* The next definition of name behind the agent's, found once and kept in *cached. */
hook_function hook_next(const char *name, hook_function *cached);
