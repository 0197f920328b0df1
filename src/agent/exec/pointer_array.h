/*
 * pointer_array - an array of pointers for the length of a call, where nothing may be allocated.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define POINTER_ARRAY_FEW 64

struct scratch;

struct pointer_array {
	char **entries;
	struct scratch *scratch; /* where many are; NULL: below */
	char *few[POINTER_ARRAY_FEW];
};

/* False: there is no room for so many, and nothing to be given. */
bool pointer_array_take(struct pointer_array *pointers, size_t count);
void pointer_array_give(struct pointer_array *pointers);
