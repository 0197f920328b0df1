/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * mem - the target's memory, as the vantage that includes a walker defines it.
 */
#pragma once
#include "abi/types.h"

struct mem;
/* Copies len bytes at addr of the target into dst; 0, or negative if it cannot. */
static inline int mem_read(struct mem *mem, void *dst, u32 len, u64 addr);

/*
 * As mem_read(), but as much of it as there is before something that cannot be read, by
 * halves: the last bytes of a section may lie right before a gap.  Returns how many bytes
 * were copied, 0 if none.
 */
static inline u32 mem_read_some(struct mem *mem, void *dst, u32 len, u64 addr)
{
	for (u32 i = 0; i < 8 && len > 0; i++) {
		if (mem_read(mem, dst, len, addr) >= 0)
			return len;
		len /= 2;
	}
	return 0;
}
