/*
 * emit - writes stacks and samples to the ring.
 *
 * A stack is sent once in each epoch.  Samples name it by a hash of its content and the epoch,
 * and a table of the hashes that were sent shows which stacks the recorder has.  When the
 * recorder has dropped its stacks it changes the epoch, and all hashes change; a child of fork,
 * which inherits its parent's table, has another epoch than its parent, too.  The table is a
 * hint and may forget a stack: that is sent again, with the same hash.
 */
#include "agent/sample/emit.h"

#include <stddef.h>

#include "abi/ring.h"
#include "agent/core/record.h"
#include "agent/core/sent.h"
#include "agent/core/thread_notes.h"
#include "agent/core/walk.h"
#include "agent/sample/clock.h"

#define SENT_STACKS 65536U

static u64 sent_stacks[SENT_STACKS];
static u32 sent_stacks_added;
static const struct sent stacks_sent = {
	.slots = sent_stacks,
	.count = SENT_STACKS,
	.added = &sent_stacks_added,
};

/* Samples of the calling thread were lost since it last sent one. */
static __thread bool has_lost;

static u64 mix(u64 hash, u64 word)
{
	hash = (hash ^ word) * 0x9fb21c651e98df25ULL;
	return hash ^ hash >> 32;
}

/* Never 0: that means "no callers". */
static u64 hash_stack(const struct walk *walk, u64 epoch)
{
	u64 hash = mix(mix(0x243f6a8885a308d3ULL, epoch), walk->count);

	for (u32 i = 0; i < walk->count; i++)
		hash = mix(hash, walk->frames[i]);
	hash = mix(hash, hash >> 29);
	return sent_hash(hash, epoch);
}

static bool send_stack(struct ring_header *ring, const struct walk *walk, u64 hash)
{
	struct record record;

	if (!record_begin(&record, ring, RING_WORDS(struct ring_stack) + walk->count))
		return false;
	record_put(&record, hash);
	for (u32 i = 0; i < walk->count; i++)
		record_put(&record, walk->frames[i]);
	record_end(&record, RING_STACK);
	sent_add(&stacks_sent, hash);
	return true;
}

void emit_lost(struct ring_header *ring, const struct sample_time *time)
{
	__atomic_fetch_add(&ring->lost_samples, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&ring->lost_ns, time->weight_ns, __ATOMIC_RELAXED);
	has_lost = true;
}

static bool send_sample(struct ring_header *ring, const struct sample_time *time, u64 what,
			u64 stack, u64 leaf)
{
	const u64 lost = has_lost ? RING_SAMPLE_BEHIND_LOST << 8 : 0;
	struct record record;

	if (!record_begin(&record, ring, RING_WORDS(struct ring_sample)))
		return false;
	record_put(&record, (u64)(u32)thread_notes.tid | (what | lost) << 32);
	record_put(&record, time->time_ns);
	record_put(&record, stack);
	record_put(&record, leaf);
	record_put(&record, time->weight_ns);
	record_put(&record, time->covered_ns);
	record_end(&record, RING_SAMPLE);
	has_lost = false;
	return true;
}

void emit_sample(struct ring_header *ring, const struct walk *walk,
		 const struct sample_time *time)
{
	const u64 hash = walk->count == 0 ? 0 : hash_stack(walk, walk->epoch);

	if (walk->is_lost ||
	    (hash != 0 && !sent_has(&stacks_sent, hash) && !send_stack(ring, walk, hash)) ||
	    !send_sample(ring, time, walk->status, hash, walk->leaf))
		emit_lost(ring, time);
}

void emit_paused(struct ring_header *ring, const struct sample_time *time)
{
	if (!send_sample(ring, time, RING_SAMPLE_PAUSED << 8, 0, 0))
		emit_lost(ring, time);
}

void emit_end(struct ring_header *ring, const struct sample_time *time, u64 start_function)
{
	const u64 what = WALK_NO_SAMPLE | RING_SAMPLE_END << 8;

	if (!send_sample(ring, time, what, 0, start_function))
		__atomic_fetch_add(&ring->unsent_ns, time->weight_ns, __ATOMIC_RELAXED);
}
