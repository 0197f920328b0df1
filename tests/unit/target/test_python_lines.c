#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "python_line_tables.h"
#include "target/python_lines.h"

#define TABLE_COUNT (sizeof line_tables / sizeof line_tables[0])

/* From a copy of its own, so that a sanitizer sees a read one byte too far. */
static uint32_t line_in(const struct line_table *table, size_t len, uint32_t instruction)
{
	CLEANUP(freep) uint8_t *copy = xmalloc(len > 0 ? len : 1);

	memcpy(copy, table->bytes, len);
	return python_line_of(table->kind, copy, len, table->first_line, instruction);
}

static uint32_t instructions_of(const struct line_table *table)
{
	uint32_t count = 0;

	for (const struct line_run *run = table->runs; run->count > 0; run++)
		count += run->count;
	return count;
}

static void each_instruction_has_the_line_that_its_interpreter_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE_COUNT; i++) {
		const struct line_table *table = &line_tables[i];
		uint32_t instruction = 0;

		for (const struct line_run *run = table->runs; run->count > 0; run++) {
			for (uint32_t n = 0; n < run->count; n++, instruction++) {
				uint32_t line = line_in(table, table->len, instruction);

				if (line != run->line)
					fail_msg("%s: instruction %u has line %u, not %u",
						 table->name, instruction, line, run->line);
			}
		}
	}
}

static void a_table_that_is_cut_off_gives_no_line_or_a_right_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE_COUNT; i++) {
		const struct line_table *table = &line_tables[i];
		uint32_t last = instructions_of(table) - 1;
		uint32_t whole = line_in(table, table->len, 0);

		for (size_t len = 0; len < table->len; len++) {
			uint32_t first = line_in(table, len, 0);

			/* co_lnotab does not say where it ends: less of it is another table. */
			if (table->kind >= PYTHON_TABLE_PAIRS) {
				assert_true(first == 0 || first == whole);
				assert_int_equal(line_in(table, len, last), 0);
			}
		}
	}
}

static void an_instruction_behind_the_code_has_no_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE_COUNT; i++) {
		const struct line_table *table = &line_tables[i];

		if (table->kind >= PYTHON_TABLE_PAIRS)
			assert_int_equal(line_in(table, table->len, instructions_of(table)), 0);
	}
}

static const struct {
	const char *what;
	enum python_table kind;
	const char *bytes;
	uint32_t len, first_line, instruction, line;
} cases[] = {
	{ "no table is no line", PYTHON_TABLE_NONE, "\x02\x01", 2, 7, 0, 0 },
	{ "an empty lnotab is the first line", PYTHON_TABLE_LNOTAB, "", 0, 7, 100, 7 },
	{ "an empty linetable is no line", PYTHON_TABLE_PAIRS, "", 0, 7, 0, 0 },
	{ "lines go back in 3.6", PYTHON_TABLE_LNOTAB, "\x02\xff", 2, 7, 2, 6 },
	{ "and forth in 2.7", PYTHON_TABLE_LNOTAB_UNSIGNED, "\x02\xff", 2, 7, 2, 262 },
	{ "half a pair is damage", PYTHON_TABLE_LNOTAB, "\x02", 1, 7, 2, 0 },
	{ "-128 is no line", PYTHON_TABLE_PAIRS, "\x02\x80\x02\x01", 4, 7, 0, 0 },
	{ "and moves none", PYTHON_TABLE_PAIRS, "\x02\x80\x02\x01", 4, 7, 1, 8 },
	{ "a line before the first of the file", PYTHON_TABLE_PAIRS, "\x02\x81", 2, 7, 0, 0 },
	{ "an entry without its mark", PYTHON_TABLE_LOCATIONS, "\x50\x01\x01", 3, 7, 0, 0 },
	{ "two lines further", PYTHON_TABLE_LOCATIONS, "\xe0\x01\x01", 3, 7, 0, 9 },
	{ "a line further back", PYTHON_TABLE_LOCATIONS, "\xe8\x03", 2, 7, 0, 6 },
	{ "no location", PYTHON_TABLE_LOCATIONS, "\xf8", 1, 7, 0, 0 },
	{ "a number that never ends", PYTHON_TABLE_LOCATIONS,
	  "\xe8\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f", 13, 7, 0, 0 },
	{ "a number too large", PYTHON_TABLE_LOCATIONS,
	  "\xe8\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x3f", 13, 7, 0, 0 },
};

static void tables_mean_what_their_format_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint32_t line =
			python_line_of(cases[i].kind, (const uint8_t *)cases[i].bytes,
				       cases[i].len, cases[i].first_line, cases[i].instruction);

		if (line != cases[i].line)
			fail_msg("%s: %u, not %u", cases[i].what, line, cases[i].line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_instruction_has_the_line_that_its_interpreter_says),
		cmocka_unit_test(a_table_that_is_cut_off_gives_no_line_or_a_right_one),
		cmocka_unit_test(an_instruction_behind_the_code_has_no_line),
		cmocka_unit_test(tables_mean_what_their_format_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
