/*
 * nearest - the known word that a mistyped one was meant to be.
 */
#pragma once
#include <stddef.h>

struct nearest {
	const char *word; /* NULL while none is near enough */
	size_t distance;
};

/* Keeps candidate in *nearest if it is nearer to typed than the one there, and near enough. */
void nearest_consider(struct nearest *nearest, const char *typed, const char *candidate);
