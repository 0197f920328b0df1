/*
 * memory - another process's memory, page by page, as the walkers read it.
 *
 * What it is not: a view.  A page is copied when it is first needed and read in the copy until
 * memory_forget().  Pages of mappings that cannot be written (code, unwind tables) stay.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/types.h"

#define MEMORY_PAGE 4096ULL

/* Where pages come from. */
struct memory_source {
	/*
	 * Copies the page at address, a multiple of MEMORY_PAGE.  False if it cannot be read;
	 * *out_is_lasting: it is the same whenever it is read.
	 */
	bool (*fetch)(void *context, uint64_t address, void *page, bool *out_is_lasting);
	void *context;
};

struct memory_slot;

struct mem {
	struct memory_source source;
	struct memory_slot *slots;
	uint32_t round;
	/* Bytes that are read in place of the pages: a stack that the kernel copied. */
	uint64_t copy_low, copy_high;
	const uint8_t *copy;
	uint64_t fetches; /* pages that were asked for */
};

void memory_init(struct mem *mem, struct memory_source source);
void memory_done(struct mem *mem);
/* Pages that can be written are read anew. */
void memory_forget(struct mem *mem);
/* From now on [low, low + len) is read in `bytes`, which the caller keeps; len 0: no more. */
void memory_use_copy(struct mem *mem, uint64_t low, const void *bytes, size_t len);

int memory_read(struct mem *mem, void *dst, uint32_t len, uint64_t addr);

#include "walk/mem.h"

static inline int mem_read(struct mem *mem, void *dst, u32 len, u64 addr)
{
	return memory_read(mem, dst, len, addr);
}
