#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/processes/mappings.h"

static void add(struct mappings *mappings, uint64_t start, uint64_t end, uint32_t module,
		uint64_t from_ns)
{
	mappings_add(mappings, &(struct module_place){ .start = start,
						       .end = end,
						       .from_ns = from_ns,
						       .to_ns = UINT64_MAX,
						       .has_file = true,
						       .module = module });
}

static uint32_t module_at(struct mappings *mappings, uint64_t address, uint64_t time_ns)
{
	const struct module_place *place =
		mappings_find(mappings, address, mappings_era(mappings, time_ns));

	return place == NULL ? 0 : place->module;
}

static void an_address_means_what_covers_it(void **state)
{
	struct mappings *mappings = mappings_new();

	(void)state;
	add(mappings, 0x1000, 0x3000, 1, 10);
	add(mappings, 0x5000, 0x6000, 2, 20);
	assert_int_equal(module_at(mappings, 0x1000, 100), 1);
	assert_int_equal(module_at(mappings, 0x2fff, 100), 1);
	assert_int_equal(module_at(mappings, 0x3000, 100), 0);
	assert_int_equal(module_at(mappings, 0x5800, 100), 2);
	assert_int_equal(module_at(mappings, 0x0fff, 100), 0);
	mappings_free(mappings);
}

static void an_address_means_what_was_there_then(void **state)
{
	struct mappings *mappings = mappings_new();

	(void)state;
	add(mappings, 0x1000, 0x3000, 1, 10);
	add(mappings, 0x5000, 0x6000, 2, 10);
	add(mappings, 0x1000, 0x3000, 3, 200);
	add(mappings, 0x1000, 0x3000, 4, 300);
	assert_int_equal(module_at(mappings, 0x1800, 199), 1);
	assert_int_equal(module_at(mappings, 0x1800, 200), 3);
	assert_int_equal(module_at(mappings, 0x1800, 299), 3);
	assert_int_equal(module_at(mappings, 0x1800, 300), 4);
	/* The neighbour is not touched by any of it. */
	assert_int_equal(module_at(mappings, 0x5000, 100), 2);
	assert_int_equal(module_at(mappings, 0x5000, 300), 2);
	mappings_free(mappings);
}

static void what_a_new_mapping_leaves_free_stands_on(void **state)
{
	struct mappings *mappings = mappings_new();
	const struct module_place *above;

	(void)state;
	add(mappings, 0x1000, 0x9000, 1, 10);
	add(mappings, 0x4000, 0x5000, 2, 50);
	assert_int_equal(module_at(mappings, 0x3fff, 60), 1);
	assert_int_equal(module_at(mappings, 0x4000, 60), 2);
	assert_int_equal(module_at(mappings, 0x5000, 60), 1);
	assert_int_equal(module_at(mappings, 0x4000, 40), 1);
	/* And keeps its place in the file. */
	above = mappings_find(mappings, 0x5000, mappings_era(mappings, 60));
	assert_int_equal(above->start, 0x5000);
	assert_int_equal(above->file_offset, 0x4000);
	mappings_free(mappings);
}

static void the_same_mapped_again_begins_no_new_era(void **state)
{
	struct mappings *mappings = mappings_new();

	(void)state;
	add(mappings, 0x1000, 0x3000, 1, 10);
	add(mappings, 0x1000, 0x3000, 1, 20);
	assert_int_equal(mappings_era(mappings, 1000), 0);
	add(mappings, 0x1000, 0x3000, 2, 30);
	assert_int_equal(mappings_era(mappings, 29), 0);
	assert_int_equal(mappings_era(mappings, 30), 1);
	mappings_free(mappings);
}

static void a_child_begins_with_what_stands(void **state)
{
	struct mappings *mappings = mappings_new();

	(void)state;
	add(mappings, 0x1000, 0x3000, 1, 10);
	add(mappings, 0x1000, 0x3000, 2, 20);
	add(mappings, 0x5000, 0x6000, 3, 25);
	struct mappings *child = mappings_copy(mappings);

	assert_int_equal(module_at(child, 0x1000, 5), 2);
	assert_int_equal(module_at(child, 0x5000, 5), 3);
	add(child, 0x1000, 0x3000, 7, 40);
	assert_int_equal(module_at(mappings, 0x1000, 50), 2);
	mappings_free(child);
	mappings_free(mappings);
}

static void what_ended_long_ago_is_forgotten_and_the_rest_means_what_it_did(void **state)
{
	struct mappings *mappings = mappings_new();
	size_t places = 0;

	(void)state;
	add(mappings, 0x1000, 0x3000, 1, 5);
	/* A library that comes and goes, as 1,000 modules at the same place. */
	for (uint32_t turn = 1; turn <= 1000; turn++) {
		const uint64_t now = 10 * turn;

		add(mappings, 0x5000, 0x6000, turn, now);
		mappings_forget(mappings, now - 100);
		assert_int_equal(mappings_era(mappings, now), turn - 1);
		for (uint32_t ago = 0; ago < 9 && ago < turn; ago++)
			assert_int_equal(module_at(mappings, 0x5000, now - 10 * ago),
					 turn - ago);
		assert_int_equal(module_at(mappings, 0x1000, now), 1);
	}
	while (mappings_at(mappings, places) != NULL)
		places++;
	assert_in_range(places, 2, 300);
	mappings_free(mappings);
}

static size_t count_places(struct mappings *mappings)
{
	size_t places = 0;

	while (mappings_at(mappings, places) != NULL)
		places++;
	return places;
}

static void a_heap_that_grows_is_one_place(void **state)
{
	struct mappings *mappings = mappings_new();

	(void)state;
	add(mappings, 0x1000, 0x3000, 1, 5);
	for (uint64_t pages = 1; pages <= 1000; pages++)
		add(mappings, 0x5000, 0x5000 + 0x1000 * pages, 2, 10 * pages);
	assert_int_equal(count_places(mappings), 2);
	assert_int_equal(mappings_era(mappings, 20000), 0);
	assert_int_equal(module_at(mappings, 0x5000 + 0x1000 * 1000 - 1, 20000), 2);
	assert_int_equal(module_at(mappings, 0x5000, 20000), 2);
	assert_int_equal(module_at(mappings, 0x1000, 20000), 1);
	mappings_free(mappings);
}

/* A row of the recording has the bounds that it was written with. */
static void a_place_that_has_a_row_stays_as_it_is_until_it_is_forgotten(void **state)
{
	struct mappings *mappings = mappings_new();

	(void)state;
	for (uint64_t turn = 1; turn <= 1000; turn++) {
		const uint64_t end = 0x5000 + 0x1000 * turn;

		add(mappings, 0x5000, end, 2, 10 * turn);
		struct module_place *place = mappings_find(mappings, 0x5000, 0);

		assert_int_equal(place->row, 0);
		assert_int_equal(place->end, end);
		place->row = (uint32_t)turn;
		mappings_forget(mappings, 10 * turn - 5);
	}
	assert_in_range(count_places(mappings), 1, 300);
	assert_int_equal(mappings_era(mappings, 20000), 0);
	mappings_free(mappings);
}

static void an_empty_mapping_is_none(void **state)
{
	struct mappings *mappings = mappings_new();

	(void)state;
	add(mappings, 0x3000, 0x3000, 1, 10);
	add(mappings, 0x3000, 0x2000, 1, 10);
	assert_null(mappings_at(mappings, 0));
	assert_int_equal(module_at(mappings, 0x3000, 50), 0);
	mappings_free(mappings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_means_what_covers_it),
		cmocka_unit_test(an_address_means_what_was_there_then),
		cmocka_unit_test(what_a_new_mapping_leaves_free_stands_on),
		cmocka_unit_test(the_same_mapped_again_begins_no_new_era),
		cmocka_unit_test(a_child_begins_with_what_stands),
		cmocka_unit_test(
			what_ended_long_ago_is_forgotten_and_the_rest_means_what_it_did),
		cmocka_unit_test(a_heap_that_grows_is_one_place),
		cmocka_unit_test(a_place_that_has_a_row_stays_as_it_is_until_it_is_forgotten),
		cmocka_unit_test(an_empty_mapping_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
