/*
 * loads - reads memory by instructions that may fault: each is listed, with where to go on.
 *
 * Where the kernel's action for faults is ours, its handler looks them up in the list
 * (signals/faults.h).  Elsewhere these loads read only memory that is known to be mapped.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"
#include "agent/core/arch.h"

/* Loads len bytes; false if one of them cannot be read: what is at dst then is undefined. */
static inline bool fault_load(void *dst, u64 addr, u32 len)
{
	const u32 rest = len % (u32)sizeof(u64);
	u8 *to = dst;
	u64 word;
	u32 half;

	for (u32 words = len / (u32)sizeof word; words > 0; words--) {
		if (!arch_load_word(&word, (const u64 *)addr))
			return false;
		__builtin_memcpy(to, &word, sizeof word);
		to += sizeof word;
		addr += sizeof word;
	}
	/* Not byte by byte: no processor forwards four stores to one load of their bytes. */
	if (rest >= sizeof half) {
		if (!arch_load_int(&half, (const u32 *)addr))
			return false;
		__builtin_memcpy(to, &half, sizeof half);
		to += sizeof half;
		addr += sizeof half;
	}
	for (u32 bytes = rest % (u32)sizeof half; bytes > 0; bytes--) {
		if (!arch_load_byte(to++, (const u8 *)addr++))
			return false;
	}
	return true;
}
