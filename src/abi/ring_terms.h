/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ring_terms - the sizes and settings that an agent reads from a ring's header once, checks, and
 * works with from then on.
 *
 * Others can write the header's memory at any time, and a size read again may be another.  So
 * each is read once, when the ring is adopted; all addresses in the ring are computed from the
 * copy.
 */
#pragma once
#include "abi/ring.h"
#include "abi/trace.h"

#define RING_WORDS_MIN  512ULL         /* a page */
#define RING_WORDS_MAX  (1ULL << 27)   /* 1 GiB */
#define RING_PERIOD_MIN 1000ULL        /* ns */
#define RING_PERIOD_MAX 10000000000ULL /* ns */

struct ring_terms {
	u64 bytes; /* of the whole memory */
	u64 word_count;
	u64 period_ns;
	u64 period_ticks;
	u64 trace_offset; /* 0: there is no trace area */
	u32 flags;        /* enum ring_flags */
	u32 reserved;
};

/* The offset of the end of the words, where a trace area begins, if any. */
static inline u64 ring_words_end(u64 word_count)
{
	return RING_HEADER_BYTES + word_count * sizeof(u64);
}

/* Whether memory of this size may be a ring: checked before anything in it is read. */
static inline int ring_is_possible_size(u64 bytes)
{
	return bytes >= ring_words_end(RING_WORDS_MIN) &&
	       bytes <= ring_words_end(RING_WORDS_MAX) + sizeof(struct trace_area);
}

static inline int ring_terms_are_sound(const struct ring_terms *terms, u64 bytes)
{
	const int is_trace = (terms->flags & RING_TRACE) != 0;
	const u64 words_end = ring_words_end(terms->word_count);

	if (terms->word_count < RING_WORDS_MIN || terms->word_count > RING_WORDS_MAX ||
	    (terms->word_count & (terms->word_count - 1)) != 0)
		return 0;
	if ((terms->flags & ~RING_ALL_FLAGS) != 0 || (is_trace && terms->flags & RING_TIMER))
		return 0;
	return terms->trace_offset == (is_trace ? words_end : 0) && terms->bytes == bytes &&
	       bytes == words_end + (is_trace ? sizeof(struct trace_area) : 0) &&
	       terms->period_ns >= RING_PERIOD_MIN && terms->period_ns <= RING_PERIOD_MAX;
}

/*
 * Reads the terms of a ring in memory of `bytes` for which ring_is_possible_size() is true.  0;
 * or
 * -1: not a ring of this version, or its figures contradict each other.
 */
static inline int ring_read_terms(const struct ring_header *ring, u64 bytes,
				  struct ring_terms *out_terms)
{
	const struct ring_terms terms = {
		.bytes = __atomic_load_n(&ring->bytes, __ATOMIC_RELAXED),
		.word_count = __atomic_load_n(&ring->word_count, __ATOMIC_RELAXED),
		.period_ns = __atomic_load_n(&ring->period_ns, __ATOMIC_RELAXED),
		.period_ticks = __atomic_load_n(&ring->period_ticks, __ATOMIC_RELAXED),
		.trace_offset = __atomic_load_n(&ring->trace_offset, __ATOMIC_RELAXED),
		.flags = __atomic_load_n(&ring->flags, __ATOMIC_RELAXED),
	};

	if (__atomic_load_n(&ring->magic, __ATOMIC_RELAXED) != RING_MAGIC ||
	    __atomic_load_n(&ring->version, __ATOMIC_RELAXED) != RING_VERSION ||
	    !ring_terms_are_sound(&terms, bytes))
		return -1;
	*out_terms = terms;
	return 0;
}
