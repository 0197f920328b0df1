/*
 * record - writes a record into this process's ring: words, then bytes that are packed into words.
 */
#pragma once
#include <stdbool.h>

#include "abi/ring.h"
#include "agent/core/own_ring.h"

struct record {
	struct ring_header *ring;
	u64 position;
	u64 index;   /* of the next word */
	u64 partial; /* bytes that do not fill a word yet */
	u32 bytes;   /* how many */
	u16 words;   /* of the whole record */
};

/* Reserves a record of `words` words; false: the ring has no room. */
static inline bool record_begin(struct record *record, struct ring_header *ring, u64 words)
{
	*record = (struct record){ .ring = ring, .index = 1, .words = (u16)words };
	return ring_reserve(ring, own_ring.terms.word_count, words, &record->position) >= 0;
}

static inline void record_put(struct record *record, u64 word)
{
	ring_put(record->ring, own_ring.terms.word_count, record->position, record->index++,
		 word);
}

static inline void record_put_byte(struct record *record, u8 byte)
{
	record->partial |= (u64)byte << 8 * record->bytes;
	if (++record->bytes < sizeof record->partial)
		return;
	record_put(record, record->partial);
	record->partial = 0;
	record->bytes = 0;
}

/* Makes the record visible to the recorder. */
static inline void record_end(struct record *record, enum ring_record_type type)
{
	if (record->bytes != 0)
		record_put(record, record->partial);
	ring_commit(record->ring, own_ring.terms.word_count, record->position, record->words,
		    (u8)type);
}
