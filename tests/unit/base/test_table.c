#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/table.h"

static void an_empty_table_has_no_key(void **state)
{
	struct table table = { 0 };
	uint64_t hi, lo, value = 7;
	size_t cursor = 0;

	(void)state;
	assert_false(table_get(&table, 0, 0, &value));
	assert_int_equal(value, 7);
	assert_false(table_next(&table, &cursor, &hi, &lo, &value));
	table_remove(&table, 0, 0);
	table_done(&table);
}

static void a_new_value_is_zero_and_an_old_one_stays(void **state)
{
	struct table table = { 0 };
	bool is_new;
	uint64_t value = 0;

	(void)state;
	assert_int_equal(*table_at(&table, 1, 2, &is_new), 0);
	assert_true(is_new);
	*table_at(&table, 1, 2, &is_new) = 9;
	assert_false(is_new);
	assert_true(table_get(&table, 1, 2, &value));
	assert_int_equal(value, 9);
	assert_false(table_get(&table, 2, 1, &value));
	assert_false(table_get(&table, 1, 0, &value));
	assert_int_equal(table.count, 1);
	table_done(&table);
}

/*
 * Against an array as the truth: keys come and go in a fixed, unordered way, dense enough that
 * runs of neighbours form, wrap around the end and lose members in their middle.
 */
static void a_table_agrees_with_an_array_while_keys_come_and_go(void **state)
{
	enum { KEYS = 4096, STEPS = 200000 };
	struct table table = { 0 };
	uint64_t *truth = calloc(KEYS, sizeof *truth); /* 0: not there */
	uint64_t choice = 1;
	size_t count = 0;

	(void)state;
	for (uint64_t step = 1; step <= STEPS; step++) {
		uint64_t key;

		choice = choice * 6364136223846793005ULL + 1442695040888963407ULL;
		key = (choice >> 33) % KEYS;
		if (choice >> 63) {
			table_remove(&table, key % 3, key);
			count -= truth[key] != 0;
			truth[key] = 0;
		} else {
			*table_at(&table, key % 3, key, NULL) = step;
			count += truth[key] == 0;
			truth[key] = step;
		}
		assert_int_equal(table.count, count);
		if (step % 10000)
			continue;
		for (uint64_t k = 0; k < KEYS; k++) {
			uint64_t value = 0;

			assert_int_equal(table_get(&table, k % 3, k, &value), truth[k] != 0);
			assert_int_equal(value, truth[k]);
		}
	}
	free(truth);
	table_done(&table);
}

static void every_entry_is_visited_once(void **state)
{
	struct table table = { 0 };
	uint64_t hi, lo, value, keys = 0, values = 0;
	size_t cursor = 0, visits = 0;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		*table_at(&table, i, i * 4096, NULL) = i + 1;
	while (table_next(&table, &cursor, &hi, &lo, &value)) {
		assert_int_equal(lo, hi * 4096);
		keys += hi;
		values += value;
		visits++;
	}
	assert_int_equal(visits, 1000);
	assert_int_equal(keys, 999 * 1000 / 2);
	assert_int_equal(values, 1000 * 1001 / 2);
	table_done(&table);
	assert_int_equal(table.count, 0);
}

static void equal_bytes_have_one_id(void **state)
{
	struct intern intern = { 0 };
	size_t len = 0;

	(void)state;
	assert_int_equal(intern_string(&intern, "main"), 1);
	assert_int_equal(intern_string(&intern, "work"), 2);
	assert_int_equal(intern_string(&intern, "main"), 1);
	assert_int_equal(intern_add(&intern, "main", 4), 1);
	assert_int_equal(intern_add(&intern, "main\0", 5), 3);
	assert_int_equal(intern_add(&intern, NULL, 0), 4);
	assert_int_equal(intern_string(&intern, ""), 4);
	assert_int_equal(intern.count, 4);
	assert_string_equal(intern_get(&intern, 2, &len), "work");
	assert_int_equal(len, 4);
	assert_memory_equal(intern_get(&intern, 3, &len), "main\0", 6);
	assert_int_equal(len, 5);
	assert_int_equal(intern_find(&intern, "work", 4), 2);
	assert_int_equal(intern_find(&intern, NULL, 0), 4);
	assert_int_equal(intern_find(&intern, "wor", 3), 0);
	assert_int_equal(intern.count, 4);
	intern_done(&intern);
}

static void no_string_is_number_0(void **state)
{
	struct intern intern = { 0 };

	(void)state;
	assert_int_equal(intern_string(&intern, NULL), 0);
	assert_null(intern_get(&intern, 0, NULL));
	assert_null(intern_get(&intern, 1, NULL));
	intern_string(&intern, "x");
	assert_null(intern_get(&intern, 2, NULL));
	intern_done(&intern);
}

static void a_hundred_thousand_names_stay_apart(void **state)
{
	struct intern intern = { 0 };
	char name[64];

	(void)state;
	for (uint32_t i = 0; i < 100000; i++) {
		snprintf(name, sizeof name, "a::long::prefix::for::all::of::them::%" PRIu32, i);
		assert_int_equal(intern_string(&intern, name), i + 1);
	}
	for (uint32_t i = 0; i < 100000; i++) {
		snprintf(name, sizeof name, "a::long::prefix::for::all::of::them::%" PRIu32, i);
		assert_int_equal(intern_string(&intern, name), i + 1);
		assert_string_equal(intern_get(&intern, i + 1, NULL), name);
	}
	intern_done(&intern);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_table_has_no_key),
		cmocka_unit_test(a_new_value_is_zero_and_an_old_one_stays),
		cmocka_unit_test(a_table_agrees_with_an_array_while_keys_come_and_go),
		cmocka_unit_test(every_entry_is_visited_once),
		cmocka_unit_test(equal_bytes_have_one_id),
		cmocka_unit_test(no_string_is_number_0),
		cmocka_unit_test(a_hundred_thousand_names_stay_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
