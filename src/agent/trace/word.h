/*
 * word - a word of the program's data, written where that may be.
 *
 * Where a filter may forbid the kernel's copy (a container has one as a rule), only data of an
 * image is written, which says where it is read-only.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

static inline u64 trace_word(u64 object, u16 member)
{
	return *(const u64 *)(object + member);
}

/*
 * Of words that make an identity: each is turned by another number of bits, so that they do not
 * cancel each other out where they are alike.
 */
static inline u64 trace_rotate(u64 word, u32 bits)
{
	return word << bits | word >> (64 - bits);
}

/* False: the memory is read-only, where a store would kill, or it is not known whether it is. */
bool trace_put_word(void **place, void *word);
