/*
 * memory - another process's memory, read page by page for the stack walkers.
 *
 * It is a cache: a page is copied when it is first needed, and that copy is read until
 * memory_forget(). Copies of read-only mappings (code, unwind tables) are kept beyond that.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/types.h"

#define MEMORY_PAGE 4096ULL

/* The function that provides pages. */
struct memory_source {
	/*
	 * Copies the page at address, a multiple of MEMORY_PAGE. False if it cannot be read;
	 * *out_is_lasting: the page cannot change.
	 */
	bool (*fetch)(void *context, uint64_t address, void *page, bool *out_is_lasting);
	void *context;
};

struct memory_slot;

struct mem {
	struct memory_source source;
	struct memory_slot *slots;
	uint32_t round;
	/*
	 * Bytes used instead of the pages at these addresses: a stack that the kernel copied.
	 */
	uint64_t copy_low, copy_high;
	const uint8_t *copy;
	uint64_t fetches; /* pages requested from source */
};

void memory_init(struct mem *mem, struct memory_source source);
void memory_done(struct mem *mem);
/* Drops the copies of writable pages. */
void memory_forget(struct mem *mem);
/*
 * From now on reads of [low, low + len) use `bytes`, which the caller keeps alive; len 0: no
 * longer.
 */
void memory_use_copy(struct mem *mem, uint64_t low, const void *bytes, size_t len);

int memory_read(struct mem *mem, void *dst, uint32_t len, uint64_t addr);

#include "walk/mem.h"

static inline int mem_read(struct mem *mem, void *dst, u32 len, u64 addr)
{
	return memory_read(mem, dst, len, addr);
}
