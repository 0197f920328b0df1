/*
 * scratch - memory for arrays that are too large for a stack, where malloc() may not be called.
 *
 * For exec and its like, which are called in handlers and in vfork children.  Memory that such a
 * child maps stays mapped in its parent; so there are few scratches, and they are used again.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct scratch;

/* Takes one; NULL if all are in use, memory is short, or a vfork child has one already. */
struct scratch *scratch_take(size_t bytes);
void *scratch_memory(const struct scratch *scratch);
/* Gives it back, after an exec that failed.  If exec succeeds, the kernel frees it (scratch.c). */
void scratch_give(struct scratch *scratch);
/* In a child of fork: frees those that the parent's threads had taken. */
void scratch_forget(void);

/* An array of pointers for the length of a call. */
#define POINTER_ARRAY_FEW 64
struct pointer_array {
	char **entries;
	struct scratch *scratch; /* has the entries if they are many; NULL: `few` has them */
	char *few[POINTER_ARRAY_FEW];
};
/* False: there is no room for so many, and nothing to be given back. */
bool pointer_array_take(struct pointer_array *pointers, size_t count);
void pointer_array_give(struct pointer_array *pointers);
