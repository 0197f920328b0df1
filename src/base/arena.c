#include "arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define FIRST_BLOCK_BYTES   ((size_t)4096)
#define LARGEST_BLOCK_BYTES ((size_t)1 << 20)

/* The head is the block being filled; later blocks are full, or hold one large piece each. */
struct arena_block {
	struct arena_block *next;
	size_t used, size; /* of data */
	max_align_t data[];
};

static struct arena_block *block_new(size_t size)
{
	struct arena_block *block;
	size_t bytes;

	/* An impossible size ends in xzalloc(), as out of memory. */
	if (__builtin_add_overflow(size, sizeof *block, &bytes))
		bytes = SIZE_MAX;
	block = xzalloc(bytes);
	block->size = size;
	return block;
}

static size_t next_block_size(const struct arena_block *head)
{
	if (!head)
		return FIRST_BLOCK_BYTES;
	return head->size < LARGEST_BLOCK_BYTES ? head->size * 2 : LARGEST_BLOCK_BYTES;
}

static void *block_take(struct arena_block *block, size_t size)
{
	void *piece = (char *)block->data + block->used;

	block->used += size;
	return piece;
}

/*
 * Gives it a block of its own behind the head, so that the head's remaining space stays in use.
 */
static void *alloc_large(struct arena *arena, size_t size)
{
	struct arena_block *block = block_new(size);

	if (arena->head) {
		block->next = arena->head->next;
		arena->head->next = block;
	} else {
		arena->head = block;
	}
	return block_take(block, size);
}

static void *arena_take(struct arena *arena, size_t size)
{
	struct arena_block *head = arena->head;
	size_t block_size;

	if (head && size <= head->size - head->used)
		return block_take(head, size);
	block_size = next_block_size(head);
	if (size > block_size / 4)
		return alloc_large(arena, size);
	head = block_new(block_size);
	head->next = arena->head;
	arena->head = head;
	return block_take(head, size);
}

void *arena_alloc(struct arena *arena, size_t size)
{
	const size_t align = alignof(max_align_t);
	struct arena_block *head = arena->head;

	/* Strings leave the head unaligned. */
	if (head)
		head->used = (head->used + align - 1) / align * align;
	if (head && head->used > head->size)
		head->used = head->size;
	return arena_take(arena, size);
}

char *arena_strndup(struct arena *arena, const char *string, size_t len)
{
	size_t bytes;
	char *copy;

	if (__builtin_add_overflow(len, 1, &bytes))
		bytes = SIZE_MAX;
	copy = arena_take(arena, bytes);
	if (len > 0)
		memcpy(copy, string, len);
	return copy;
}

void arena_done(struct arena *arena)
{
	struct arena_block *next;

	for (struct arena_block *block = arena->head; block; block = next) {
		next = block->next;
		free(block);
	}
	arena->head = NULL;
}
