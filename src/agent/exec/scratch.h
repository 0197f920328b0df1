/*
 * scratch - memory for arrays too large for a stack, where nothing may be allocated.
 *
 * For exec and its like, which are called in handlers and in vfork children.  What such a child
 * maps stays behind in its parent, whose memory it is; so they are few, and used again.
 */
#pragma once
#include <stddef.h>

struct scratch;

/* NULL if all are in use, memory is short, or a vfork child has one already. */
struct scratch *scratch_take(size_t bytes);
void *scratch_memory(const struct scratch *scratch);
/* Gives it back: after an exec that failed.  One that succeeds gives it back by itself. */
void scratch_give(struct scratch *scratch);
/* In a child of fork: those that other threads had taken are free. */
void scratch_forget(void);
