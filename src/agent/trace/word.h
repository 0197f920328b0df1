/*
 * word - words of the program's data: read, mixed to an identity, and written where that may be.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

static inline u64 trace_word_at(u64 address)
{
	return *(const u64 *)address;
}

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

/* Into an image's data.  False: it is in none, or there it is read-only, as the image says. */
bool trace_put_word(void **place, void *word);
