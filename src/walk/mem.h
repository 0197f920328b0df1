/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * mem - access to the target's memory, which the file that includes a walker defines.
 */
#pragma once
#include "abi/types.h"

struct mem;
/* Copies len bytes at addr of the target into dst; 0, or negative if it cannot. */
static inline int mem_read(struct mem *mem, void *dst, u32 len, u64 addr);

/*
 * Like mem_read(), but if that fails, tries with half the length, and so on: the last bytes of a
 * section may lie right before an unmapped page.  Returns how many bytes were copied, 0 if none.
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
