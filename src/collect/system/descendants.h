/* descendants - finds all descendants of some processes in /proc, as of one moment. */
#pragma once
#include <stddef.h>
#include <sys/types.h>

struct descendants {
	pid_t *pids; /* parents before their children */
	size_t count, capacity;
};

/* Does nothing if the pid is already in the list. */
void descendants_add(struct descendants *all, pid_t pid);
/* Adds the children of the listed processes, the children of those, and so on. */
void descendants_find(struct descendants *all);
void descendants_done(struct descendants *all);
