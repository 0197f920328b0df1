/*
 * test_ruby_line - each position of an iseq has the line that its table says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "ruby_memory_image.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define INDEX   TABLE
#define ENTRIES (TABLE + 0x2000)
#define SIZE    1700U /* words of code: more than three blocks of 512 */

/* Whether an entry begins at a position: at some next to each other, at others far apart. */
static int begins_at(unsigned position)
{
	return position == 0 || (position > 3 && position < 9) || position == 53 ||
	       position == 54 || position == 55 || (position >= 100 && position % 7 == 3) ||
	       (position >= 560 && position < 640) || position == 54 + 512 ||
	       position == 54 + 2 * 512 - 1 || position == 1699;
}

/* Each entry's line is its own; they need not ascend. */
static uint32_t line_of_entry(unsigned entry)
{
	return 10000 - entry * 3;
}

/*
 * Writes the index bit by bit, as iseq.c's comment on it describes it: 54 positions in counts
 * of seven bits, nine to a word, then blocks of 512 bits with what came before them.
 */
static void put_index(struct mem *mem)
{
	unsigned count = 0;

	for (unsigned position = 0; position < 54; position++) {
		const uint64_t at = INDEX + position / 9 * 8;

		count += (unsigned)begins_at(position);
		put_word(mem, at, word_at(mem, at) | (uint64_t)count << position % 9 * 7);
	}
	for (unsigned block = 0; block < (SIZE - 54 + 511) / 512; block++) {
		const uint64_t at = INDEX + 48 + block * 80;
		const unsigned before = count;

		put_int(mem, at, count);
		for (unsigned part = 0; part < 8; part++) {
			uint64_t bits = 0;

			if (part > 0)
				put_word(mem, at + 8,
					 word_at(mem, at + 8) | (uint64_t)(count - before)
									<< (part - 1) * 9);
			for (unsigned bit = 0; bit < 64; bit++) {
				const int begins =
					begins_at(54 + block * 512 + part * 64 + bit);

				bits |= (uint64_t)begins << bit;
				count += (unsigned)begins;
			}
			put_word(mem, at + 16 + part * 8, bits);
		}
	}
}

static struct ruby_frame make_lines(struct mem *mem, const struct ruby_layout *layout)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	unsigned count = 0;

	for (unsigned position = 0; position < SIZE; position++) {
		if (!begins_at(position))
			continue;
		put_int(mem, ENTRIES + count * offsets->line_size, line_of_entry(count));
		count++;
	}
	put_index(mem);
	put_word(mem, BODY(0) + offsets->body_lines, ENTRIES);
	put_int(mem, BODY(0) + offsets->body_line_count, count);
	put_word(mem, BODY(0) + offsets->body_line_index, INDEX);
	return (struct ruby_frame){
		.kind = RUBY_FRAME_ISEQ, .body = BODY(0), .encoded = CODE(0), .size = SIZE
	};
}

static void each_position_has_its_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < GENERATIONS; i++) {
		const struct ruby_layout layout = layout_of(&generations[i]);
		struct mem *mem = calloc(1, sizeof *mem);
		struct ruby_frame frame = make_lines(mem, &layout);
		unsigned entry = 0;

		for (unsigned position = 0; position < SIZE; position++) {
			entry += (unsigned)begins_at(position);
			/* pc behind the instruction, which is one word or more ago */
			frame.pc = CODE(0) + (position + 1) * 8;
			assert_int_equal(ruby_line_of(mem, &layout, &frame, 0),
					 line_of_entry(entry - 1));
			frame.pc = CODE(0) + position * 8;
			assert_int_equal(ruby_line_of(mem, &layout, &frame, 1),
					 line_of_entry(entry - 1));
		}
		/* A frame that has not begun is at its first instruction. */
		frame.pc = CODE(0);
		assert_int_equal(ruby_line_of(mem, &layout, &frame, 0), line_of_entry(0));
		free(mem);
	}
}

static void one_entry_needs_no_index(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[1]);
	struct mem *mem = calloc(1, sizeof *mem);
	struct ruby_frame frame = make_lines(mem, &layout);

	(void)state;
	put_int(mem, BODY(0) + layout.offsets.body_line_count, 1);
	put_word(mem, BODY(0) + layout.offsets.body_line_index, 0);
	frame.pc = CODE(0) + 800;
	assert_int_equal(ruby_line_of(mem, &layout, &frame, 0), line_of_entry(0));
	free(mem);
}

static void what_is_not_known_is_no_line(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[3]);
	const struct ruby_offsets *offsets = &layout.offsets;
	const struct {
		const char *name;
		uint64_t address, word;
		uint64_t pc;
	} cases[] = {
		{ "no entries", BODY(0) + offsets->body_line_count, 0, CODE(0) + 80 },
		{ "fewer than there are", BODY(0) + offsets->body_line_count, 2,
		  CODE(0) + 8000 },
		{ "no index", BODY(0) + offsets->body_line_index, 0, CODE(0) + 80 },
		{ "an unreadable index", BODY(0) + offsets->body_line_index, NOWHERE,
		  CODE(0) + 80 },
		{ "an unreadable block", BODY(0) + offsets->body_line_index,
		  MEMORY + MEMORY_LEN - 100, CODE(0) + 8000 },
		{ "unreadable entries", BODY(0) + offsets->body_lines, NOWHERE, CODE(0) + 80 },
		{ "an empty index", INDEX, 0, CODE(0) + 8 },
		{ "pc before the code", MEMORY, 0, CODE(0) - 8 },
		{ "pc behind it", MEMORY, 0, CODE(0) + (SIZE + 2) * 8 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct mem *mem = calloc(1, sizeof *mem);
		struct ruby_frame frame = make_lines(mem, &layout);

		print_message("%s\n", cases[i].name);
		put_word(mem, cases[i].address, cases[i].word);
		frame.pc = cases[i].pc;
		assert_int_equal(ruby_line_of(mem, &layout, &frame, 0), RUBY_NO_LINE);
		free(mem);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_position_has_its_line),
		cmocka_unit_test(one_entry_needs_no_index),
		cmocka_unit_test(what_is_not_known_is_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
