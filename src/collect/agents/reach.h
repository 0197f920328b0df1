/*
 * reach - whether a program that no agent came from can have one at all: by what its root
 * directory and its mount namespace have of ours, and what its user may read.
 */
#pragma once
#include <sys/types.h>

/* The paths that a program finds in its environment, as the recorder sees them. */
struct reach_paths {
	const char *agent;  /* ld.so loads it */
	const char *socket; /* on which it says hello */
};

/*
 * Why not: a sentence, a literal; NULL if nothing is in the way, or nothing can be seen: the
 * process is gone, or another user's.
 */
const char *reach_why_not(pid_t pid, const struct reach_paths *paths);
