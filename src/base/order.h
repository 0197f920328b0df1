/*
 * order - elements by a number each, many at once.
 *
 * A byte of the numbers at a time: a tenth of what comparing them in pairs takes.  Programs have
 * some ten thousand symbols, and as many unwind records.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* The number and the place of an element. */
struct ordered {
	uint64_t key;
	size_t index;
};

/* Sorts by key; what has the same stays as it was. */
void order_by_key(struct ordered *elements, size_t count);
