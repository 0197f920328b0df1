/*
 * test_ruby_damage - whatever stands in memory, a walk reads a bounded amount of it and ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "ruby_memory_walked.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The most reads that a walk of six frames may take: an undamaged one takes some hundreds. */
#define MOST_READS 8000UL

static uint64_t flipped(uint64_t word, uint64_t address, unsigned how)
{
	const uint64_t words[] = {
		0,
		~0ULL,
		~word,
		word ^ 1,
		word ^ 1ULL << 12,
		word ^ 1ULL << 13,
		word + 8,
		word << 32 | word >> 32,
		address,
		NOWHERE,
		1ULL << 47,
		ISEQ(1),
		METHOD(1),
		TEXT(0),
		IDS,
		CLASS(0),
	};

	return words[how % COUNT(words)];
}

#define WAYS 16

static void a_walk_is_bounded_whatever_one_word_is(void **state)
{
	volatile uint64_t sum = 0;

	(void)state;
	for (size_t i = 0; i < GENERATIONS; i++) {
		const struct ruby_layout layout = layout_of(&generations[i]);
		struct mem *mem = make_program(&layout);
		unsigned long most = 0, changed = 0;

		assert_int_equal(walk_all(mem, &layout, &sum), 6);
		for (uint64_t at = MEMORY; at < MEMORY + MEMORY_LEN; at += 8) {
			const uint64_t word = word_at(mem, at);

			for (unsigned how = 0; word != 0 && how < WAYS; how++) {
				put_word(mem, at, flipped(word, at, how));
				mem->reads = 0;
				changed += walk_all(mem, &layout, &sum) != 6;
				most = mem->reads > most ? mem->reads : most;
				put_word(mem, at, word);
			}
		}
		print_message("%s: at most %lu reads, %lu walks shortened\n",
			      generations[i].name, most, changed);
		assert_true(most < MOST_READS);
		assert_true(changed > 100);
		free(mem);
	}
}

static void a_walk_is_bounded_whatever_cannot_be_read(void **state)
{
	volatile uint64_t sum = 0;

	(void)state;
	for (size_t i = 0; i < GENERATIONS; i++) {
		const struct ruby_layout layout = layout_of(&generations[i]);
		struct mem *mem = make_program(&layout);

		for (uint64_t at = MEMORY; at < MEMORY + MEMORY_LEN; at += 8) {
			if (word_at(mem, at) == 0)
				continue;
			mem->gap = at;
			mem->reads = 0;
			walk_all(mem, &layout, &sum);
			assert_true(mem->reads < MOST_READS);
		}
		free(mem);
	}
}

/* The layout is the recorder's, but it lies in memory that the process can write. */
static void a_walk_is_bounded_whatever_the_layout_says(void **state)
{
	const struct ruby_layout right = layout_of(&generations[4]);
	struct mem *mem = make_program(&right);
	volatile uint64_t sum = 0;

	(void)state;
	for (size_t at = 0; at < sizeof right / 2; at++) {
		static const uint16_t values[] = { 0, 1, 8, 63, 64, 65, 0x100, 0x7fff, 0xffff };

		for (size_t i = 0; i < COUNT(values); i++) {
			struct ruby_layout layout = right;

			memcpy((uint8_t *)&layout + at * 2, &values[i], 2);
			mem->reads = 0;
			walk_all(mem, &layout, &sum);
			assert_true(mem->reads < MOST_READS);
		}
	}
	free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_walk_is_bounded_whatever_one_word_is),
		cmocka_unit_test(a_walk_is_bounded_whatever_cannot_be_read),
		cmocka_unit_test(a_walk_is_bounded_whatever_the_layout_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
