#include "remote/deadlock.h"

/* The edge of the thread that owns what edge i's thread waits for; count: it waits for none. */
static size_t next_of(const struct deadlock_edge *edges, size_t count, size_t i)
{
	size_t next = 0;

	if (edges[i].owner == 0)
		return count;
	while (next < count && edges[next].waits != edges[i].owner)
		next++;
	return next;
}

size_t deadlock_find(const struct deadlock_edge *edges, size_t count, size_t from,
		     size_t *out_circle)
{
	size_t at = from;

	for (size_t len = 0; len < count; len++) {
		out_circle[len] = at;
		at = next_of(edges, count, at);
		if (at == from)
			return len + 1;
		if (at == count)
			return 0;
	}
	return 0;
}
