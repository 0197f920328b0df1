/*
 * The input is a byte for the version, and then what of a process's memory is changed: two
 * bytes for which of the words that are not 0, and eight for the new word.  A walk of the Ruby
 * thread in it ends, whatever they say, after a bounded number of reads.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/walk/ruby_memory_walked.h"

#define CHANGE     10U
#define MOST_READS 50000UL

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The addresses of the words that are not 0; returns how many there are. */
static uint32_t find_used(const struct mem *mem, uint64_t places[MEMORY_LEN / 8])
{
	uint32_t count = 0;

	for (uint64_t at = MEMORY; at < MEMORY + MEMORY_LEN; at += 8) {
		if (word_at(mem, at) != 0)
			places[count++] = at;
	}
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint64_t places[MEMORY_LEN / 8];

	if (size < 1)
		return 0;

	const struct ruby_layout layout = layout_of(&generations[data[0] % GENERATIONS]);
	struct mem *mem = make_program(&layout);
	volatile uint64_t sum = 0;
	const uint32_t used = find_used(mem, places);

	for (size_t i = 1; size - i >= CHANGE; i += CHANGE) {
		uint64_t word;

		memcpy(&word, data + i + 2, sizeof word);
		put_word(mem, places[((uint32_t)data[i] << 8 | data[i + 1]) % used], word);
	}
	walk_all(mem, &layout, &sum);
	if (mem->reads > MOST_READS)
		abort();
	free(mem);
	return 0;
}
