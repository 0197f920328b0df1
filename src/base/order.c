#include "order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define BYTE_VALUES 256

/*
 * One pass of a radix sort, by one byte of the key; counts[value] is how many elements have
 * that byte.
 */
static void distribute(const struct ordered *from, struct ordered *to, size_t count,
		       unsigned shift, const size_t *counts)
{
	size_t next[BYTE_VALUES];
	size_t sum = 0;

	for (size_t value = 0; value < BYTE_VALUES; value++) {
		next[value] = sum;
		sum += counts[value];
	}
	for (size_t i = 0; i < count; i++)
		to[next[from[i].key >> shift & (BYTE_VALUES - 1)]++] = from[i];
}

void order_by_key(struct ordered *elements, size_t count)
{
	struct ordered *from = elements, *spare, *to;

	if (count < 2)
		return;
	to = spare = xreallocarray(NULL, count, sizeof *spare);
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t counts[BYTE_VALUES] = { 0 };

		for (size_t i = 0; i < count; i++)
			counts[from[i].key >> shift & (BYTE_VALUES - 1)]++;
		if (counts[from[0].key >> shift & (BYTE_VALUES - 1)] == count)
			continue;
		distribute(from, to, count, shift, counts);
		struct ordered *const sorted = to;

		to = from;
		from = sorted;
	}
	if (from != elements)
		memcpy(elements, from, count * sizeof *elements);
	free(spare);
}
