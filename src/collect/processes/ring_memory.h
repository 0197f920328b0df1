/*
 * ring_memory - how large a ring is, and how much of it costs memory.
 *
 * A page costs memory once it is written, and positions go round: a ring that is long in use has
 * been written all over.  So the recorder gives back what it has read, and the size is that of
 * the worst: all processors write into this one ring, and the recorder does not run meanwhile.
 */
#pragma once
#include <stdint.h>

struct ring_header;

/* A mebibyte: names and stacks come at once when a program begins. */
#define RING_MEMORY_WORDS_LEAST (128ULL * 1024)
/* 64 MiB. */
#define RING_MEMORY_WORDS_MOST (8ULL * 1024 * 1024)
/* What has been read is given back, and may be written again, in pieces of 64 KiB. */
#define RING_MEMORY_PIECE_WORDS (8ULL * 1024)

/*
 * The words of a ring, a power of two: what so many processors write in two seconds at this
 * rate if all stacks are new, within the bounds above.  A thread's clock does not run where it does not: it is the
 * processors, and not the threads, that can be busy at a time.
 */
uint64_t ring_memory_words(uint32_t rate_hz, uint32_t processors);

/*
 * Gives back the pieces between `from`, where the writers believe the reader, and `to`, where it
 * is.  The result is what they are to believe from now on: the beginning of the piece that it is
 * in, since what may be written again cannot be given back.  A ring of less than the least size
 * is left as it is.
 */
uint64_t ring_memory_give_back(struct ring_header *ring, uint64_t word_count, uint64_t from,
			       uint64_t to);
