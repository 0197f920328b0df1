/*
 * room - memory for arrays too large for a stack, where nothing may be allocated.
 *
 * For exec and its like, which are called in handlers and in vfork children.  What such a child
 * maps stays behind in its parent, whose memory it is; so rooms are few, and used again.
 */
#pragma once
#include <stddef.h>

struct room;

/* NULL if all are in use, memory is short, or a vfork child has one already. */
struct room *room_take(size_t bytes);
void *room_memory(const struct room *room);
/* Gives it back: after an exec that failed.  One that succeeds gives it back by itself. */
void room_give(struct room *room);
/* In a child of fork: those that other threads had taken are free. */
void room_forget(void);
