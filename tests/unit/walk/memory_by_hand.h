/*
 * memory_by_hand - a process's memory as a test fills it, for walks of interpreters' frames.
 */
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "abi/types.h"

#define MEMORY     0x100000ULL
#define MEMORY_LEN 0x40000ULL
#define NOWHERE    0xdead0000ULL /* in no memory */

struct mem {
	uint8_t bytes[MEMORY_LEN];
	uint64_t gap; /* eight bytes here cannot be read; 0: all can */
	unsigned long reads;
};

static inline int mem_read(struct mem *mem, void *dst, u32 len, u64 addr)
{
	mem->reads++;
	if (addr < MEMORY || len > MEMORY_LEN || addr - MEMORY > MEMORY_LEN - len ||
	    (mem->gap != 0 && addr + len > mem->gap && addr < mem->gap + 8))
		return -1;
	memcpy(dst, mem->bytes + (addr - MEMORY), len);
	return 0;
}

static inline void put(struct mem *mem, uint64_t addr, const void *bytes, size_t len)
{
	if (addr < MEMORY || addr - MEMORY + len > MEMORY_LEN)
		abort();
	memcpy(mem->bytes + (addr - MEMORY), bytes, len);
}

static inline void put_word(struct mem *mem, uint64_t addr, uint64_t word)
{
	put(mem, addr, &word, sizeof word);
}

static inline void put_int(struct mem *mem, uint64_t addr, uint32_t value)
{
	put(mem, addr, &value, sizeof value);
}

static inline void put_byte(struct mem *mem, uint64_t addr, uint8_t value)
{
	put(mem, addr, &value, sizeof value);
}
