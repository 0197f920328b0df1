/*
 * arena - memory that is freed all at once.
 *
 * A zero-initialized `struct arena` is an empty one.
 */
#pragma once
#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *head;
};

/* Zeroed, aligned for any type, alive until arena_done(). */
void *arena_alloc(struct arena *arena, size_t size) __attribute__((returns_nonnull));
char *arena_strndup(struct arena *arena, const char *string, size_t len)
	__attribute__((returns_nonnull));
void arena_done(struct arena *arena);
