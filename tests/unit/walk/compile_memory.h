/*
 * compile_memory - the memory for walkers that are only compiled.
 */
#pragma once
#include "abi/types.h"

struct mem {
	u64 low, high;
};

/* Stands for bpf_probe_read_user() and its like. */
static inline int mem_read(struct mem *mem, void *dst, u32 len, u64 addr)
{
	if (addr < mem->low || addr > mem->high || len > mem->high - addr)
		return -1;
	for (u32 i = 0; i < 64 && i < len; i++)
		((u8 *)dst)[i] = ((const volatile u8 *)addr)[i];
	return 0;
}
