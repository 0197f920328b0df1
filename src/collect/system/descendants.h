/*
 * descendants - the processes that descend from some, as /proc has them at a moment.
 */
#pragma once
#include <stddef.h>
#include <sys/types.h>

struct descendants {
	pid_t *pids; /* parents before their children */
	size_t count, capacity;
};

/* Again does nothing. */
void descendants_add(struct descendants *all, pid_t pid);
/* Adds the children of those that are there, theirs, and so on. */
void descendants_find(struct descendants *all);
void descendants_done(struct descendants *all);
