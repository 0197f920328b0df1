#include "collect/processes/ring_memory.h"

#include <sys/mman.h>

#include "abi/ring.h"

#define SECONDS 2
/* A sample with a new stack of some fifty callers: in some programs every stack is new. */
#define WORDS_PER_SAMPLE 64ULL

uint64_t ring_memory_words(uint32_t rate_hz, uint32_t processors)
{
	const uint64_t due = SECONDS * WORDS_PER_SAMPLE * rate_hz * processors;
	uint64_t words = RING_MEMORY_WORDS_LEAST;

	while (words < due && words < RING_MEMORY_WORDS_MOST)
		words *= 2;
	return words;
}

/* Fails, harmlessly, where the machine's pages are larger than the ring's header. */
static void give_back(struct ring_header *ring, uint64_t index, uint64_t words)
{
	if (words > 0)
		madvise(ring_words(ring) + index, words * sizeof(u64), MADV_REMOVE);
}

uint64_t ring_memory_give_back(struct ring_header *ring, uint64_t word_count, uint64_t from,
			       uint64_t to)
{
	if (word_count < RING_MEMORY_WORDS_LEAST)
		return to;
	to -= to % RING_MEMORY_PIECE_WORDS;
	const uint64_t index = from & (word_count - 1);
	const uint64_t words = to - from;
	const uint64_t first = words < word_count - index ? words : word_count - index;

	give_back(ring, index, first);
	give_back(ring, 0, words - first);
	return to;
}
