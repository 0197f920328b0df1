/*
 * row - encodes rows and commands as bytes, which the writer queues for the store.
 *
 * An entry is one byte, enum row_entry or the number of a table, and then values: of a row the
 * id and all columns, of others the values listed below. Both ends are in this process, so
 * reading checks nothing.
 */
#pragma once
#include <stdint.h>
#include <string.h>

#include "record/schema.h"

enum row_entry {
	/* Time, thread, stack, how, weight, whether that weight is the usual one. */
	ROW_SAMPLE = TABLE_COUNT,
	ROW_SQL,  /* one statement, as text */
	ROW_TICK, /* a second has passed */
	ROW_COMMIT,
};

/* The first byte of a value: an integer's length in bytes, or one of these. */
enum row_value { ROW_INT_MAX = 8, ROW_NULL, ROW_TEXT, ROW_BLOB };

/* The longest integer with its length byte; readers may read this far beyond an entry's end. */
#define ROW_INT_BYTES 9

/* Adds an integer; small ones of either sign are short. */
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

/* Reads an integer with its length at *at, and advances *at. */
static inline int64_t row_take_int(const uint8_t **at)
{
	const uint8_t len = *(*at)++;
	const int64_t value = row_get_int(*at, len);

	*at += len;
	return value;
}
