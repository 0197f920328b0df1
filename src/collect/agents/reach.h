/*
 * reach - finds why a program without an agent cannot have one: its root directory or mount
 * namespace lacks fathom's files, or its user may not read them.
 */
#pragma once
#include <sys/types.h>

/* The paths that a program finds in its environment, as the recorder sees them. */
struct reach_paths {
	const char *agent;  /* ld.so loads it */
	const char *socket; /* to which the agent connects */
};

/*
 * Why not: a sentence, a literal; NULL if there is no reason, or none can be seen: the process
 * has ended, or is another user's.
 */
const char *reach_why_not(pid_t pid, const struct reach_paths *paths);
