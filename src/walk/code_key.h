/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * code_key - keys that identify an interpreter's functions, and the words of their frames in
 * stacks.
 */
#pragma once
#include "abi/ring.h"

/* The number of an unknown instruction. */
#define CODE_NO_INSTRUCTION 0xffffffffU

static inline u64 code_mix(u64 hash, u64 word)
{
	hash = (hash ^ word) * 0x9fb21c651e98df25ULL;
	return hash ^ hash >> 32;
}

/* The first `left` bytes of a word; the others are undefined. */
static inline u64 code_first_bytes(u64 word, u64 left)
{
	return left >= sizeof word ? word : word & ((1ULL << left * 8) - 1);
}

/* Makes a key of a hash (abi/ring.h describes the frame words that contain it). */
static inline u64 code_key_of_hash(u64 hash)
{
	return RING_INTERPRETED | (code_mix(hash, hash >> 29) & RING_KEY_MASK);
}

/* The word of a frame with this key. */
static inline u64 code_word(u64 key, u32 instruction)
{
	return key | (instruction < RING_NO_INSTRUCTION ? instruction : RING_NO_INSTRUCTION);
}
