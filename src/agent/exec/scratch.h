/*
 * scratch - memory for arrays too large for a stack, where nothing may be allocated.
 *
 * For exec and its like, which are called in handlers and in vfork children.  What such a child
 * maps stays behind in its parent, whose memory it is; so they are few, and used again.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct scratch;

/* NULL if all are in use, memory is short, or a vfork child has one already. */
struct scratch *scratch_take(size_t bytes);
void *scratch_memory(const struct scratch *scratch);
/* Gives it back: after an exec that failed.  One that succeeds gives it back by itself. */
void scratch_give(struct scratch *scratch);
/* In a child of fork: those that other threads had taken are free. */
void scratch_forget(void);

/* An array of pointers for the length of a call. */
#define POINTER_ARRAY_FEW 64
struct pointer_array {
	char **entries;
	struct scratch *scratch; /* where many are; NULL: below */
	char *few[POINTER_ARRAY_FEW];
};
/* False: there is no room for so many, and nothing to be given. */
bool pointer_array_take(struct pointer_array *pointers, size_t count);
void pointer_array_give(struct pointer_array *pointers);
