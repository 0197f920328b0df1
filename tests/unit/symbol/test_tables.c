/* The pure parts: ranges, symbol tables, .eh_frame, checksums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "symbol/debug_files.h"
#include "symbol/frame_ranges.h"
#include "symbol/range_map.h"
#include "symbol/symbol_table.h"

#define NONE UINT32_MAX

static uint32_t value_at(const struct range_map *map, uint64_t address)
{
	uint32_t value;

	return range_map_find(map, address, &value) ? value : NONE;
}

static void ranges_answer_by_priority_then_by_age(void **state)
{
	CLEANUP(range_map_done) struct range_map map = { 0 };
	static const struct {
		uint64_t address;
		uint32_t value;
	} cases[] = {
		{ 99, NONE }, { 100, 1 }, { 199, 1 }, { 200, 3 },    { 249, 3 }, { 250, 2 },
		{ 299, 2 },   { 300, 1 }, { 399, 1 }, { 400, NONE }, { 500, 5 }, { 510, NONE },
	};
	(void)state;

	range_map_add(&map, 100, 400, 0, 1);
	range_map_add(&map, 200, 300, 1, 2);
	range_map_add(&map, 200, 250, 1, 3); /* newer than 2 */
	range_map_add(&map, 500, 510, 0, 4);
	range_map_add(&map, 500, 510, 0, 5);
	range_map_add(&map, 600, 600, 9, 6); /* empty */
	range_map_add(&map, 700, 650, 9, 7); /* backward */
	range_map_finish(&map);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(value_at(&map, cases[i].address), cases[i].value);
	assert_int_equal(value_at(&map, 600), NONE);
	assert_int_equal(value_at(&map, 660), NONE);
}

static void no_ranges_have_no_answer(void **state)
{
	CLEANUP(range_map_done) struct range_map map = { 0 };
	(void)state;

	assert_int_equal(value_at(&map, 0), NONE);
	range_map_finish(&map);
	assert_int_equal(value_at(&map, 0), NONE);
}

/* Against the definition: of all ranges that cover the address, the best. */
static void ranges_answer_as_if_all_were_looked_at(void **state)
{
	enum { COUNT = 300, SPACE = 400 };
	struct {
		uint64_t start, end;
		uint32_t priority;
	} ranges[COUNT];
	CLEANUP(range_map_done) struct range_map map = { 0 };
	uint32_t seed = 12345;
	(void)state;

	for (uint32_t i = 0; i < COUNT; i++) {
		ranges[i].start = (seed = seed * 1103515245 + 12345) >> 8 & 0xff;
		ranges[i].end =
			ranges[i].start + ((seed = seed * 1103515245 + 12345) >> 8 & 63);
		ranges[i].priority = (seed = seed * 1103515245 + 12345) >> 8 & 7;
		range_map_add(&map, ranges[i].start, ranges[i].end, ranges[i].priority, i);
	}
	range_map_finish(&map);
	for (uint64_t address = 0; address < SPACE; address++) {
		uint32_t best = NONE;
		for (uint32_t i = 0; i < COUNT; i++)
			if (ranges[i].start <= address && address < ranges[i].end &&
			    (best == NONE || ranges[i].priority >= ranges[best].priority))
				best = i;
		assert_int_equal(value_at(&map, address), best);
	}
}

static void add(struct symbol_table *table, uint64_t start, uint64_t len, const char *name,
		enum symbol_rank rank, bool is_function)
{
	symbol_table_add(table, &(struct symbol){ .start = start,
						  .end = start + len,
						  .limit = 0x2000,
						  .name = name,
						  .rank = rank,
						  .is_function = is_function });
}

static const char *name_at(const struct symbol_table *table, uint64_t address)
{
	const struct symbol *symbol = symbol_table_find(table, address);

	return symbol ? symbol->name : "none";
}

static void sizes_are_honoured(void **state)
{
	CLEANUP(symbol_table_done) struct symbol_table table = { 0 };
	struct frame_ranges none = { 0 };
	(void)state;

	add(&table, 0x1000, 0x10, "a", SYMBOL_RANK_GLOBAL, true);
	add(&table, 0x1020, 0x10, "b", SYMBOL_RANK_LOCAL, true);
	symbol_table_finish(&table, &none);
	assert_string_equal(name_at(&table, 0xfff), "none");
	assert_string_equal(name_at(&table, 0x1000), "a");
	assert_string_equal(name_at(&table, 0x100f), "a");
	assert_string_equal(name_at(&table, 0x1010), "none");
	assert_string_equal(name_at(&table, 0x101f), "none");
	assert_string_equal(name_at(&table, 0x1020), "b");
	assert_string_equal(name_at(&table, 0x1030), "none");
}

static void of_aliases_the_best_is_taken_in_any_order(void **state)
{
	static const struct {
		const char *name;
		enum symbol_rank rank;
		bool is_function;
	} best_first[] = {
		{ "read", SYMBOL_RANK_GLOBAL, true },
		{ "reader", SYMBOL_RANK_GLOBAL, true },
		{ "_read", SYMBOL_RANK_GLOBAL, true },
		{ "__read", SYMBOL_RANK_GLOBAL, true },
		{ "weak_read", SYMBOL_RANK_WEAK, true },
		{ "local_read", SYMBOL_RANK_LOCAL, true },
		{ "label", SYMBOL_RANK_GLOBAL, false },
	};
	const size_t count = sizeof best_first / sizeof best_first[0];
	struct frame_ranges none = { 0 };
	(void)state;

	for (size_t first = 0; first < count; first++) {
		for (int backward = 0; backward < 2; backward++) {
			CLEANUP(symbol_table_done) struct symbol_table table = { 0 };
			for (size_t i = first; i < count; i++) {
				size_t k = backward ? count - 1 - (i - first) : i;
				add(&table, 0x1000, 16, best_first[k].name, best_first[k].rank,
				    best_first[k].is_function);
			}
			symbol_table_finish(&table, &none);
			assert_string_equal(name_at(&table, 0x1008), best_first[first].name);
		}
	}
}

static void the_inner_one_of_nested_symbols_is_taken(void **state)
{
	CLEANUP(symbol_table_done) struct symbol_table table = { 0 };
	struct frame_ranges none = { 0 };
	(void)state;

	add(&table, 0x1000, 0x100, "outer", SYMBOL_RANK_GLOBAL, true);
	add(&table, 0x1010, 0x10, "inner", SYMBOL_RANK_LOCAL, true);
	add(&table, 0x1040, 0, "label", SYMBOL_RANK_LOCAL, false);
	table.is_whole = true;
	symbol_table_finish(&table, &none);
	assert_string_equal(name_at(&table, 0x100f), "outer");
	assert_string_equal(name_at(&table, 0x1010), "inner");
	assert_string_equal(name_at(&table, 0x1020), "outer");
	assert_string_equal(name_at(&table, 0x1050), "outer");
	assert_string_equal(name_at(&table, 0x1100), "label");
}

static void a_symbol_without_size_never_names_a_neighbour(void **state)
{
	static const struct {
		const char *name;
		bool is_whole;
		struct frame_range range; /* of .eh_frame */
		uint64_t named_to;        /* the first address that "start" does not name */
	} cases[] = {
		{ "whole table: to the next symbol", true, { 0 }, 0x1100 },
		{ "whole table: to the next function",
		  true,
		  { 0x1040, 0x1080, false },
		  0x1040 },
		{ "whole table: to its own end", true, { 0x1000, 0x1030, false }, 0x1030 },
		{ "stripped table: its first byte", false, { 0 }, 0x1001 },
		{ "stripped table: to its own end", false, { 0x1000, 0x1030, false }, 0x1030 },
		{ "an end beyond the next symbol", true, { 0x1000, 0x1800, false }, 0x1100 },
	};
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CLEANUP(symbol_table_done) struct symbol_table table = { 0 };
		struct frame_range range = cases[i].range;
		struct frame_ranges ranges = { &range, range.end ? 1 : 0, 0 };
		print_message("%s\n", cases[i].name);
		add(&table, 0x1000, 0, "start", SYMBOL_RANK_GLOBAL, false);
		add(&table, 0x1100, 0x10, "next", SYMBOL_RANK_GLOBAL, true);
		table.is_whole = cases[i].is_whole;
		symbol_table_finish(&table, &ranges);
		assert_string_equal(name_at(&table, 0x1000), "start");
		assert_string_equal(name_at(&table, cases[i].named_to - 1), "start");
		assert_string_not_equal(name_at(&table, cases[i].named_to), "start");
	}
}

static void the_last_symbol_without_size_ends_with_its_section(void **state)
{
	CLEANUP(symbol_table_done) struct symbol_table table = { 0 };
	struct frame_ranges none = { 0 };
	(void)state;

	add(&table, 0x1000, 0, "last", SYMBOL_RANK_GLOBAL, false);
	table.is_whole = true;
	symbol_table_finish(&table, &none);
	assert_string_equal(name_at(&table, 0x1fff), "last");
	assert_string_equal(name_at(&table, 0x2000), "none");
}

/* One CIE "zR" with pc-relative 4-byte addresses, and two FDEs. */
static const uint8_t eh_frame[] = {
	0x14,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	1,
	'z',
	'R',
	0,
	1,
	0x78,
	16,
	1,
	0x1b,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	/* at 24: points to 0x1000 + 0x100 (its place is 0x1020), 0x20 long */
	0x10,
	0,
	0,
	0,
	0x1c,
	0,
	0,
	0,
	0xe0,
	0,
	0,
	0,
	0x20,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	/* at 44: points to 0x1034 - 0x34 = 0x1000, 0x10 long */
	0x10,
	0,
	0,
	0,
	0x30,
	0,
	0,
	0,
	0xcc,
	0xff,
	0xff,
	0xff,
	0x10,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
};

static void eh_frame_says_where_functions_begin_and_end(void **state)
{
	CLEANUP(frame_ranges_done) struct frame_ranges ranges = { 0 };
	struct frame_range range;
	(void)state;

	frame_ranges_parse(&ranges, eh_frame, sizeof eh_frame, 0x1000, true);
	assert_int_equal(ranges.count, 2);
	assert_true(frame_ranges_find(&ranges, 0x100f, &range));
	assert_int_equal(range.start, 0x1000);
	assert_int_equal(range.end, 0x1010);
	assert_false(frame_ranges_find(&ranges, 0x1010, &range));
	assert_true(frame_ranges_find(&ranges, 0x1100, &range));
	assert_int_equal(range.end, 0x1120);
	assert_int_equal(frame_ranges_next_start(&ranges, 0x1000, 0x9999), 0x1100);
	assert_int_equal(frame_ranges_next_start(&ranges, 0x1000, 0x1050), 0x1050);
	assert_int_equal(frame_ranges_next_start(&ranges, 0x1100, 0x9999), 0x9999);
}

static void what_nothing_covers_lies_between_two_functions(void **state)
{
	CLEANUP(frame_ranges_done) struct frame_ranges ranges = { 0 };
	CLEANUP(symbol_table_done) struct symbol_table table = { 0 };
	struct frame_ranges none = { 0 };
	uint64_t low = 0x800, high = 0x2000;
	(void)state;

	frame_ranges_parse(&ranges, eh_frame, sizeof eh_frame, 0x1000, true);
	frame_ranges_narrow(&ranges, 0x1080, &low, &high);
	assert_int_equal(low, 0x1010);
	assert_int_equal(high, 0x1100);
	add(&table, 0x1020, 0x20, "outer", SYMBOL_RANK_GLOBAL, true);
	add(&table, 0x1028, 0x8, "inner", SYMBOL_RANK_GLOBAL, true);
	add(&table, 0x10a0, 0, "unsized", SYMBOL_RANK_GLOBAL, true);
	symbol_table_finish(&table, &none);
	symbol_table_narrow(&table, 0x1080, &low, &high);
	assert_int_equal(low, 0x1040);
	assert_int_equal(high, 0x10a0);
	/* Behind the last of both. */
	low = 0x800;
	high = 0x2000;
	frame_ranges_narrow(&ranges, 0x1800, &low, &high);
	symbol_table_narrow(&table, 0x1800, &low, &high);
	assert_int_equal(low, 0x1120);
	assert_int_equal(high, 0x2000);
}

static void a_damaged_eh_frame_gives_fewer_functions(void **state)
{
	(void)state;

	for (size_t len = 0; len < sizeof eh_frame; len++) {
		CLEANUP(frame_ranges_done) struct frame_ranges ranges = { 0 };
		uint8_t *exact = malloc(len + 1);
		memcpy(exact, eh_frame, len);
		frame_ranges_parse(&ranges, exact, len, 0x1000, true);
		assert_int_equal(ranges.count, len < 44 ? 0 : len < 64 ? 1 : 2);
		free(exact);
	}
}

static void the_checksum_is_crc_32(void **state)
{
	(void)state;

	/* The check value of CRC-32/ISO-HDLC. */
	assert_int_equal(debug_link_crc(0, "123456789", 9), 0xcbf43926);
	/* In pieces that do not fit the eight bytes a step takes. */
	uint32_t crc = debug_link_crc(0, "12345678901", 11);
	assert_int_equal(debug_link_crc(crc, "2345", 4),
			 debug_link_crc(0, "123456789012345", 15));
	assert_int_equal(debug_link_crc(0, "", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_answer_by_priority_then_by_age),
		cmocka_unit_test(no_ranges_have_no_answer),
		cmocka_unit_test(ranges_answer_as_if_all_were_looked_at),
		cmocka_unit_test(sizes_are_honoured),
		cmocka_unit_test(of_aliases_the_best_is_taken_in_any_order),
		cmocka_unit_test(the_inner_one_of_nested_symbols_is_taken),
		cmocka_unit_test(a_symbol_without_size_never_names_a_neighbour),
		cmocka_unit_test(the_last_symbol_without_size_ends_with_its_section),
		cmocka_unit_test(eh_frame_says_where_functions_begin_and_end),
		cmocka_unit_test(what_nothing_covers_lies_between_two_functions),
		cmocka_unit_test(a_damaged_eh_frame_gives_fewer_functions),
		cmocka_unit_test(the_checksum_is_crc_32),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
