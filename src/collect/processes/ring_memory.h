/*
 * ring_memory - chooses the size of a ring, and gives memory of its read part back to the
 * kernel.
 *
 * A page takes memory once it is written, and after some time all pages of a ring have been.
 * So the recorder gives back what it has read, and the size can be for the worst case: all
 * processors write into this one ring while the recorder does not run.
 */
#pragma once
#include <stdint.h>

struct ring_header;

/* 1 MiB: many names and stacks come at once when a program begins. */
#define RING_MEMORY_WORDS_LEAST (128ULL * 1024)
/* 64 MiB. */
#define RING_MEMORY_WORDS_MOST (8ULL * 1024 * 1024)
/* Read parts are given back, and released to the writers, in pieces of 64 KiB. */
#define RING_MEMORY_PIECE_WORDS (8ULL * 1024)

/*
 * The words of a ring, a power of two: what so many processors write in two seconds at this
 * rate if all stacks are new, within the bounds above.  Processors count, not threads: a thread
 * that does not run writes no samples.
 */
uint64_t ring_memory_words(uint32_t rate_hz, uint32_t processors);

/*
 * Gives back the pieces between `from`, the tail that writers see, and `to`, the reader's
 * position.  Returns the new tail for the writers: the beginning of the piece that the reader
 * is in, since memory that may be written again cannot be given back.  Of a ring below the
 * least size nothing is given back, and the tail is `to`.
 */
uint64_t ring_memory_give_back(struct ring_header *ring, uint64_t word_count, uint64_t from,
			       uint64_t to);
