/*
 * pages - a process's memory as a test fills it, behind struct mem.
 */
#pragma once
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "remote/memory.h"

#define PAGES_BEGIN 0x100000ULL
#define PAGES_COUNT 32U
#define NOWHERE     0xdead0000ULL

struct pages {
	uint8_t bytes[PAGES_COUNT * MEMORY_PAGE];
	bool are_lasting;
	unsigned int fetches;
};

static inline bool pages_fetch(void *context, uint64_t address, void *page,
			       bool *out_is_lasting)
{
	struct pages *pages = context;

	pages->fetches++;
	if (address < PAGES_BEGIN || address - PAGES_BEGIN >= sizeof pages->bytes)
		return false;
	memcpy(page, pages->bytes + (address - PAGES_BEGIN), MEMORY_PAGE);
	*out_is_lasting = pages->are_lasting;
	return true;
}

/* Freed by memory_done() and free(). */
static inline struct pages *pages_new(struct mem *mem)
{
	struct pages *pages = calloc(1, sizeof *pages);

	if (!pages)
		abort();
	memory_init(mem, (struct memory_source){ pages_fetch, pages });
	return pages;
}

static inline void pages_put(struct pages *pages, uint64_t address, const void *bytes,
			     size_t len)
{
	if (address < PAGES_BEGIN || address - PAGES_BEGIN + len > sizeof pages->bytes)
		abort();
	memcpy(pages->bytes + (address - PAGES_BEGIN), bytes, len);
}

static inline void pages_put_word(struct pages *pages, uint64_t address, uint64_t word)
{
	pages_put(pages, address, &word, sizeof word);
}
