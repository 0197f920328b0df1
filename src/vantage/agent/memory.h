/*
 * memory - what the walkers may read in the interrupted thread.
 *
 * Bounded first: the thread's own stack from the stack pointer to its end, and the
 * segment of the image whose rules are read.  Both are known to be mapped.  Another stack
 * (a coroutine's) is proven page by page: rt_sigprocmask with an impossible `how` answers
 * EFAULT for memory that cannot be read and EINVAL for memory that can, takes 0.1 us, and
 * leaves everything as it is (kernel/signal.c, sys_rt_sigprocmask).  Where a filter may forbid
 * system calls, only what is bounded is read.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

#define MEMORY_PAGE       4096ULL
#define MEMORY_MAX_PROBES 256

struct mem {
	u64 stack_low, stack_high; /* proven */
	u64 image_low, image_high;
	u32 probes_left; /* 0: what is not proven is not read */
};

/* Whether the page of addr can be read: costs a system call. */
bool memory_probe(u64 addr);
/* Begins a walk at sp: finds which stack this is and how far it reaches. */
void memory_begin(struct mem *mem, u64 sp);
/*
 * Tries to prove [addr, addr + len): more of the stack, or a place elsewhere (generated
 * code).
 */
bool memory_prove(struct mem *mem, u64 addr, u32 len);

static inline bool memory_covers(u64 low, u64 high, u64 addr, u32 len)
{
	return addr >= low && addr < high && high - addr >= len;
}

static inline int mem_read(struct mem *mem, void *dst, u32 len, u64 addr)
{
	if (!memory_covers(mem->stack_low, mem->stack_high, addr, len) &&
	    !memory_covers(mem->image_low, mem->image_high, addr, len) &&
	    !memory_prove(mem, addr, len))
		return -1;
	const u8 *from = (const u8 *)addr;
	u8 *to = dst;

	if (len == sizeof(u64)) {
		__builtin_memcpy(to, from, sizeof(u64));
		return 0;
	}
	for (u32 i = 0; i < len; i++)
		to[i] = from[i];
	return 0;
}
