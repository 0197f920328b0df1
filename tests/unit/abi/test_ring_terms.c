/* What an agent takes from a ring's header, and when it takes nothing. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "abi/ring_terms.h"

#define WORDS       (128U * 1024)
#define WORDS_END   (RING_HEADER_BYTES + (u64)WORDS * sizeof(u64))
#define TRACE_BYTES (WORDS_END + sizeof(struct trace_area))

static struct ring_header header_of(u32 flags)
{
	const int is_trace = (flags & RING_TRACE) != 0;

	return (struct ring_header){
		.magic = RING_MAGIC,
		.version = RING_VERSION,
		.flags = flags,
		.word_count = WORDS,
		.period_ns = 997000,
		.period_ticks = 3,
		.trace_offset = is_trace ? WORDS_END : 0,
		.bytes = is_trace ? TRACE_BYTES : WORDS_END,
	};
}

static void test_terms_are_what_a_sound_header_says(void **state)
{
	const struct ring_header sampled = header_of(RING_TIMER);
	const struct ring_header traced = header_of(RING_TRACE | RING_BLOCKS);
	struct ring_terms terms;

	(void)state;
	assert_int_equal(ring_read_terms(&sampled, WORDS_END, &terms), 0);
	assert_int_equal(terms.word_count, WORDS);
	assert_int_equal(terms.bytes, WORDS_END);
	assert_int_equal(terms.trace_offset, 0);
	assert_int_equal(terms.flags, RING_TIMER);
	assert_int_equal(terms.period_ns, 997000);
	assert_int_equal(terms.period_ticks, 3);
	assert_int_equal(ring_read_terms(&traced, TRACE_BYTES, &terms), 0);
	assert_int_equal(terms.trace_offset, WORDS_END);
	assert_int_equal(terms.bytes, TRACE_BYTES);
}

#define FIELD(name) offsetof(struct ring_header, name), sizeof(((struct ring_header *)0)->name)

static const struct {
	const char *name;
	u32 flags;
	size_t offset, size;
	u64 value;
} spoiled[] = {
	{ "another magic", 0, FIELD(magic), 1 },
	{ "another version", 0, FIELD(version), RING_VERSION + 1 },
	{ "a flag that is not known", 0, FIELD(flags), RING_ALL_FLAGS + 1 },
	{ "traced, without an area", 0, FIELD(flags), RING_TRACE },
	{ "sampled, with an area", RING_TRACE, FIELD(flags), 0 },
	{ "traced by timers", RING_TRACE, FIELD(flags), RING_TRACE | RING_TIMER },
	{ "no words", 0, FIELD(word_count), 0 },
	{ "less than a page of words", 0, FIELD(word_count), RING_WORDS_MIN / 2 },
	{ "half of its words", 0, FIELD(word_count), WORDS / 2 },
	{ "twice its words", 0, FIELD(word_count), WORDS * 2 },
	{ "words that are no power of two", 0, FIELD(word_count), WORDS - 1 },
	{ "words whose bytes are 0 in 64 bits", 0, FIELD(word_count), 1ULL << 61 },
	{ "words beyond every size", 0, FIELD(word_count), ~0ULL },
	{ "other bytes than it has", 0, FIELD(bytes), WORDS_END + 4096 },
	{ "no bytes", 0, FIELD(bytes), 0 },
	{ "no period", 0, FIELD(period_ns), 0 },
	{ "a period shorter than a handler", 0, FIELD(period_ns), RING_PERIOD_MIN - 1 },
	{ "a period longer than a rate of 1", 0, FIELD(period_ns), RING_PERIOD_MAX + 1 },
	{ "an area where it has none", 0, FIELD(trace_offset), WORDS_END },
	{ "no place of its area", RING_TRACE, FIELD(trace_offset), 0 },
	{ "an area in its header", RING_TRACE, FIELD(trace_offset), 8 },
	{ "an area in its words", RING_TRACE, FIELD(trace_offset), WORDS_END - 4096 },
	{ "an area behind its place", RING_TRACE, FIELD(trace_offset), WORDS_END + 8 },
	{ "an area at its end", RING_TRACE, FIELD(trace_offset), TRACE_BYTES },
	{ "an area before itself", RING_TRACE, FIELD(trace_offset), -4096ULL },
};

static void test_a_header_with_one_wrong_figure_has_no_terms(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof spoiled / sizeof spoiled[0]; i++) {
		struct ring_header header = header_of(spoiled[i].flags);
		const struct ring_terms before = { .bytes = 77 };
		struct ring_terms terms = before;

		memcpy((char *)&header + spoiled[i].offset, &spoiled[i].value, spoiled[i].size);
		if (ring_read_terms(&header, spoiled[i].flags ? TRACE_BYTES : WORDS_END,
				    &terms) == 0)
			fail_msg("taken: %s", spoiled[i].name);
		assert_memory_equal(&terms, &before, sizeof terms);
	}
}

static void test_a_header_is_only_of_a_memory_of_its_size(void **state)
{
	const struct ring_header header = header_of(0);
	struct ring_terms terms;

	(void)state;
	assert_int_equal(ring_read_terms(&header, WORDS_END - 4096, &terms), -1);
	assert_int_equal(ring_read_terms(&header, WORDS_END + 4096, &terms), -1);
}

static void test_sizes_that_no_ring_has_are_known_without_it(void **state)
{
	(void)state;
	assert_true(ring_is_possible_size(WORDS_END));
	assert_true(ring_is_possible_size(TRACE_BYTES));
	assert_false(ring_is_possible_size(0));
	assert_false(ring_is_possible_size(RING_HEADER_BYTES));
	assert_false(ring_is_possible_size(1ULL << 40));
	assert_false(ring_is_possible_size(~0ULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_terms_are_what_a_sound_header_says),
		cmocka_unit_test(test_a_header_with_one_wrong_figure_has_no_terms),
		cmocka_unit_test(test_a_header_is_only_of_a_memory_of_its_size),
		cmocka_unit_test(test_sizes_that_no_ring_has_are_known_without_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
