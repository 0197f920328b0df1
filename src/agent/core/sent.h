/*
 * sent - a table of the hashes of stacks or codes that the recorder has.
 *
 * A hint: it may forget a hash, whose stack or code is then sent again.  The lowest byte of a
 * hash is the tag of its epoch; hashes of other epochs are replaced first.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "abi/types.h"

#define SENT_PROBES 4U

struct sent {
	u64 *slots;
	u32 count; /* a power of two */
	/*
	 * How many were added, up to `count`: few slots are in use at first, so that a short
	 * process touches few pages.  NULL: all slots are in use.
	 */
	u32 *added;
};

#define SENT_COUNT_FIRST 512U
#define SENT_GROWTH      8U
/* Slots in use for each hash that was added, so that few are forgotten. */
#define SENT_SPARSE 8U

/* How many slots are in use. */
static inline u32 sent_count(const struct sent *sent)
{
	u32 count = SENT_COUNT_FIRST;

	if (sent->added == NULL)
		return sent->count;
	while (count < sent->count &&
	       __atomic_load_n(sent->added, __ATOMIC_RELAXED) > count / SENT_SPARSE)
		count *= SENT_GROWTH;
	return count < sent->count ? count : sent->count;
}

/* Never 0, which means that a slot is free. */
static inline u64 sent_hash(u64 hash, u64 epoch)
{
	return (hash & ~0xffULL) | (((epoch ^ epoch >> 32) << 1 | 1) & 0xff);
}

static inline u64 *sent_slot(const struct sent *sent, u32 count, u64 hash, u32 probe)
{
	return &sent->slots[(u32)((hash >> 20) + probe) & (count - 1)];
}

static inline bool sent_has_among(const struct sent *sent, u32 count, u64 hash)
{
	for (u32 i = 0; i < SENT_PROBES; i++) {
		if (__atomic_load_n(sent_slot(sent, count, hash, i), __ATOMIC_RELAXED) == hash)
			return true;
	}
	return false;
}

static inline bool sent_has(const struct sent *sent, u64 hash)
{
	const u32 count = sent_count(sent);

	/* The hash may have been added before the table grew. */
	return sent_has_among(sent, count, hash) ||
	       (sent->added != NULL && count > SENT_COUNT_FIRST &&
		sent_has_among(sent, count / SENT_GROWTH, hash));
}

static inline void sent_add(const struct sent *sent, u64 hash)
{
	const u32 count = sent_count(sent);

	if (sent->added != NULL && __atomic_load_n(sent->added, __ATOMIC_RELAXED) < sent->count)
		__atomic_add_fetch(sent->added, 1, __ATOMIC_RELAXED);
	for (u32 i = 0; i < SENT_PROBES; i++) {
		u64 there = __atomic_load_n(sent_slot(sent, count, hash, i), __ATOMIC_RELAXED);

		if ((there & 0xff) != (hash & 0xff) &&
		    __atomic_compare_exchange_n(sent_slot(sent, count, hash, i), &there, hash,
						0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
	}
	__atomic_store_n(sent_slot(sent, count, hash, (u32)(hash >> 8) % SENT_PROBES), hash,
			 __ATOMIC_RELAXED);
}
