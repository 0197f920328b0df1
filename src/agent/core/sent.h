/*
 * sent - a table of the hashes that the recorder was told.
 *
 * A hint: it may forget, and what it names is sent again then.  Hashes are of one epoch, whose
 * tag is their lowest byte; one of another epoch gives way first.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

#define SENT_PROBES 4U

struct sent {
	u64 *slots;
	u32 count; /* a power of two */
};

/* Never 0, which means that a slot is free. */
static inline u64 sent_hash(u64 hash, u64 epoch)
{
	return (hash & ~0xffULL) | (((epoch ^ epoch >> 32) << 1 | 1) & 0xff);
}

static inline u64 *sent_slot(const struct sent *sent, u64 hash, u32 probe)
{
	return &sent->slots[(u32)((hash >> 20) + probe) & (sent->count - 1)];
}

static inline bool sent_has(const struct sent *sent, u64 hash)
{
	for (u32 i = 0; i < SENT_PROBES; i++) {
		if (__atomic_load_n(sent_slot(sent, hash, i), __ATOMIC_RELAXED) == hash)
			return true;
	}
	return false;
}

static inline void sent_add(const struct sent *sent, u64 hash)
{
	for (u32 i = 0; i < SENT_PROBES; i++) {
		u64 there = __atomic_load_n(sent_slot(sent, hash, i), __ATOMIC_RELAXED);

		if ((there & 0xff) != (hash & 0xff) &&
		    __atomic_compare_exchange_n(sent_slot(sent, hash, i), &there, hash, 0,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
	}
	__atomic_store_n(sent_slot(sent, hash, (u32)(hash >> 8) % SENT_PROBES), hash,
			 __ATOMIC_RELAXED);
}
