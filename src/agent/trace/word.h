/*
 * word - reads words of the program's memory, mixes them to identities, and writes words where the
 * program's data may be written.
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
 * Rotates a word of several that are combined to an identity, each by another number of bits, so
 * that equal words do not cancel each other out.
 */
static inline u64 trace_rotate(u64 word, u32 bits)
{
	return word << bits | word >> (64 - bits);
}

/* Writes a word of an image's data.  False: in no image, or read-only by its program headers. */
bool trace_put_word(void **place, void *word);
