/*
 * row - rows and commands as bytes, on their way from the writer to the store.
 *
 * An entry is one byte, enum row_entry or the number of a table, and values: of a row the id
 * and all columns, of others what stands beside them here.  Both ends are this process's, so
 * nothing is checked when it is read.
 */
#pragma once
#include <stdint.h>
#include <string.h>

#include "record/schema.h"

enum row_entry {
	ROW_SAMPLE = TABLE_COUNT, /* time, thread, stack, how, weight, whether that is usual */
	ROW_SQL,                  /* one statement, as text */
	ROW_TICK,                 /* a second has gone by */
	ROW_COMMIT,
};

/* A value's first byte: so many bytes of an integer, or: */
enum row_value { ROW_INT_MAX = 8, ROW_NULL, ROW_TEXT, ROW_BLOB };

/* The most that an integer takes; an entry's bytes can be read so far beyond its end. */
#define ROW_INT_BYTES 9

/* Small numbers, of either sign, are short. */
static inline uint8_t *row_put_int(uint8_t *at, int64_t value)
{
	const uint64_t folded = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
	const unsigned int bits = folded == 0 ? 0 : 64U - (unsigned int)__builtin_clzll(folded);
	const uint8_t len = (uint8_t)((bits + 7) / 8);

	*at++ = len;
	memcpy(at, &folded, sizeof folded);
	return at + len;
}

/* An integer of len bytes. */
static inline int64_t row_get_int(const uint8_t *at, uint8_t len)
{
	uint64_t folded;

	memcpy(&folded, at, sizeof folded);
	if (len < 8)
		folded &= (1ULL << len * 8) - 1;
	return (int64_t)(folded >> 1 ^ -(folded & 1));
}

/* An integer that was put with its length, and is behind *at: moves that. */
static inline int64_t row_take_int(const uint8_t **at)
{
	const uint8_t len = *(*at)++;
	const int64_t value = row_get_int(*at, len);

	*at += len;
	return value;
}
