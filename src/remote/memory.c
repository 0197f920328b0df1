#include "remote/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SLOTS 1024U

struct memory_slot {
	uint64_t page; /* the address + 1; 0: nothing */
	uint32_t round;
	bool is_lasting, is_absent;
	uint8_t *bytes;
};

void memory_init(struct mem *mem, struct memory_source source)
{
	*mem = (struct mem){
		.source = source,
		.slots = xzalloc(SLOTS * sizeof(struct memory_slot)),
	};
}

void memory_done(struct mem *mem)
{
	for (uint32_t i = 0; mem->slots && i < SLOTS; i++)
		free(mem->slots[i].bytes);
	free(mem->slots);
	mem->slots = NULL;
}

void memory_forget(struct mem *mem)
{
	mem->round++;
}

void memory_use_copy(struct mem *mem, uint64_t low, const void *bytes, size_t len)
{
	mem->copy_low = low;
	mem->copy_high = low + len;
	mem->copy = bytes;
}

/* The page's bytes, or NULL if it cannot be read. */
static const uint8_t *page_at(struct mem *mem, uint64_t page)
{
	const uint64_t number = page / MEMORY_PAGE;
	struct memory_slot *slot = &mem->slots[(number ^ number >> 10) % SLOTS];

	if (slot->page != page + 1 || (!slot->is_lasting && slot->round != mem->round)) {
		if (!slot->bytes)
			slot->bytes = xmalloc(MEMORY_PAGE);
		slot->page = page + 1;
		slot->round = mem->round;
		slot->is_lasting = false;
		slot->is_absent = !mem->source.fetch(mem->source.context, page, slot->bytes,
						     &slot->is_lasting);
		if (slot->is_absent)
			slot->is_lasting = false;
		mem->fetches++;
	}
	return slot->is_absent ? NULL : slot->bytes;
}

static bool copy_has(const struct mem *mem, uint64_t addr, uint32_t len)
{
	return addr >= mem->copy_low && addr < mem->copy_high && mem->copy_high - addr >= len;
}

int memory_read(struct mem *mem, void *dst, uint32_t len, uint64_t addr)
{
	uint8_t *to = dst;

	if (copy_has(mem, addr, len)) {
		memcpy(dst, mem->copy + (addr - mem->copy_low), len);
		return 0;
	}
	if (addr + len < addr)
		return -1;
	while (len > 0) {
		const uint64_t offset = addr % MEMORY_PAGE;
		const uint32_t part =
			len < MEMORY_PAGE - offset ? len : (uint32_t)(MEMORY_PAGE - offset);
		const uint8_t *page = page_at(mem, addr - offset);

		if (!page)
			return -1;
		memcpy(to, page + offset, part);
		to += part;
		addr += part;
		len -= part;
	}
	return 0;
}
