/*
 * deadlock - threads that wait for each other's mutexes in a circle.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Which thread waits for which. */
struct deadlock_edge {
	pid_t waits, owner; /* owner 0: it waits for none */
};

/*
 * The first circle that begins with edge `from`: the numbers of its edges in out_circle, which
 * has room for count.  Its length, 0: from is in none.  A thread that waits for itself is a
 * circle of one.
 */
size_t deadlock_find(const struct deadlock_edge *edges, size_t count, size_t from,
		     size_t *out_circle);
