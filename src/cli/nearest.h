/* nearest - suggests the known word nearest to a mistyped one. */
#pragma once
#include <stddef.h>

struct nearest {
	const char *word; /* NULL: none was near enough */
	size_t distance;
};

/*
 * Keeps candidate in *nearest if it is near enough to typed, and nearer than the current one.
 */
void nearest_consider(struct nearest *nearest, const char *typed, const char *candidate);
