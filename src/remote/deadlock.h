/* deadlock - finds threads that wait for each other's locks in a circle. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* One thread waits for another. */
struct deadlock_edge {
	pid_t waits, owner; /* owner 0: it waits for none */
};

/*
 * The first circle that includes edge `from`. Stores the numbers of its edges in out_circle,
 * which has room for count, and returns how many; 0: `from` is in no circle. A thread that
 * waits for itself is a circle of one.
 */
size_t deadlock_find(const struct deadlock_edge *edges, size_t count, size_t from,
		     size_t *out_circle);
