#include "cmocka_all.h"

#include "profile/time_slots.h"

static const struct slot_row one = { .stack = { 1 }, .thread = { 1 }, .ns = 5, .samples = 1 };

static uint64_t sum_of(const struct time_slots *time_slots)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < time_slots->count; i++)
		ns += time_slots->rows[i].ns;
	return ns;
}

static void a_long_recording_has_all_slots_and_a_short_one_sixteen(void **state)
{
	struct time_slots time_slots = { 0 };

	(void)state;
	time_slots_begin(&time_slots, 3600 * 1000000000ULL);
	assert_int_equal(time_slots.slot_count, TIME_SLOTS_MAX);
	time_slots_begin(&time_slots, 100);
	assert_int_equal(time_slots.slot_count, 16);
	assert_true(time_slots.slot_ns * time_slots.slot_count >= 100);
	time_slots_done(&time_slots);
}

static void samples_of_a_slot_are_summed(void **state)
{
	struct time_slots time_slots = { 0 };

	(void)state;
	time_slots_begin(&time_slots, 1600);
	time_slots_add(&time_slots, 0, &one);
	time_slots_add(&time_slots, 50, &one);
	time_slots_add(&time_slots, 150, &one);
	time_slots_add(&time_slots, 99999, &one); /* behind the end */
	assert_int_equal(time_slots.count, 3);
	assert_int_equal(time_slots.rows[0].ns, 10);
	assert_int_equal(time_slots.rows[0].samples, 2);
	assert_int_equal(time_slots.rows[1].slot, 1);
	assert_int_equal(time_slots.rows[2].slot, 15);
	time_slots_done(&time_slots);
}

/* Stacks that come again in each slot become fewer rows; those that are all different do not. */
static void too_many_rows_have_longer_slots_or_none(void **state)
{
	struct time_slots time_slots = { 0 };

	(void)state;
	time_slots_begin(&time_slots, 1600);
	for (uint32_t i = 0; i < SLOT_ROWS_MAX + 16; i++) {
		struct slot_row slot_row = one;

		slot_row.stack.n = i / 16 + 1;
		time_slots_add(&time_slots, i % 16 * 101, &slot_row);
	}
	assert_int_equal(time_slots.slot_count, 8);
	assert_int_equal(sum_of(&time_slots), 5ULL * (SLOT_ROWS_MAX + 16));
	for (uint32_t i = 0; i < SLOT_ROWS_MAX + 1; i++) {
		struct slot_row slot_row = one;

		slot_row.stack.n = 1000000 + i;
		time_slots_add(&time_slots, 0, &slot_row);
	}
	assert_int_equal(time_slots.slot_count, 0);
	assert_int_equal(time_slots.count, 0);
	time_slots_done(&time_slots);
}

static void a_wait_is_in_each_slot_that_it_lasts(void **state)
{
	const struct slot_row wait = { .ns = 250, .samples = 1, .state = 8 };
	static const uint64_t parts[] = { 20, 100, 100, 30 };
	struct time_slots time_slots = { 0 };

	(void)state;
	time_slots_begin(&time_slots, 1584); /* sixteen slots of 100 */
	time_slots_add_wait(&time_slots, 330, &wait);
	assert_int_equal(time_slots.count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(time_slots.rows[i].slot, i);
		assert_int_equal(time_slots.rows[i].ns, parts[i]);
		assert_int_equal(time_slots.rows[i].samples, i == 3);
	}
	/* It began before the recording; it ends behind it. */
	time_slots_add_wait(&time_slots, 100, &wait);
	time_slots_add_wait(&time_slots, 99999, &wait);
	assert_int_equal(sum_of(&time_slots), 3 * 250);
	/* Another state is another row. */
	time_slots_add_wait(&time_slots, 330, &(struct slot_row){ .ns = 10, .state = 7 });
	assert_int_equal(time_slots.rows[time_slots.count - 1].state, 7);
	time_slots_done(&time_slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_recording_has_all_slots_and_a_short_one_sixteen),
		cmocka_unit_test(samples_of_a_slot_are_summed),
		cmocka_unit_test(a_wait_is_in_each_slot_that_it_lasts),
		cmocka_unit_test(too_many_rows_have_longer_slots_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
