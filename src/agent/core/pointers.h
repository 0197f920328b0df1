/*
 * pointers - an array of pointers for the length of a call, where nothing may be allocated.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define POINTERS_FEW 64

struct room;

struct pointers {
	char **entries;
	struct room *room; /* where many are; NULL: below */
	char *few[POINTERS_FEW];
};

/* False: there is no room for so many, and nothing to be given. */
bool pointers_take(struct pointers *pointers, size_t count);
void pointers_give(struct pointers *pointers);
