#include "cmocka_all.h"

#include "profile/moments.h"

static const struct moment one = { .stack = { 1 }, .thread = { 1 }, .ns = 5, .samples = 1 };

static uint64_t sum_of(const struct moments *moments)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < moments->count; i++)
		ns += moments->rows[i].ns;
	return ns;
}

static void a_long_recording_has_all_slots_and_a_short_one_sixteen(void **state)
{
	struct moments moments = { 0 };

	(void)state;
	moments_begin(&moments, 3600 * 1000000000ULL);
	assert_int_equal(moments.slot_count, MOMENTS_SLOTS);
	moments_begin(&moments, 100);
	assert_int_equal(moments.slot_count, 16);
	assert_true(moments.slot_ns * moments.slot_count >= 100);
	moments_done(&moments);
}

static void samples_of_a_slot_are_summed(void **state)
{
	struct moments moments = { 0 };

	(void)state;
	moments_begin(&moments, 1600);
	moments_add(&moments, 0, &one);
	moments_add(&moments, 50, &one);
	moments_add(&moments, 150, &one);
	moments_add(&moments, 99999, &one); /* behind the end */
	assert_int_equal(moments.count, 3);
	assert_int_equal(moments.rows[0].ns, 10);
	assert_int_equal(moments.rows[0].samples, 2);
	assert_int_equal(moments.rows[1].slot, 1);
	assert_int_equal(moments.rows[2].slot, 15);
	moments_done(&moments);
}

/* Stacks that come again in each slot become fewer rows; those that are all different do not. */
static void too_many_rows_have_longer_slots_or_none(void **state)
{
	struct moments moments = { 0 };

	(void)state;
	moments_begin(&moments, 1600);
	for (uint32_t i = 0; i < MOMENTS_MAX + 16; i++) {
		struct moment moment = one;

		moment.stack.n = i / 16 + 1;
		moments_add(&moments, i % 16 * 101, &moment);
	}
	assert_int_equal(moments.slot_count, 8);
	assert_int_equal(sum_of(&moments), 5ULL * (MOMENTS_MAX + 16));
	for (uint32_t i = 0; i < MOMENTS_MAX + 1; i++) {
		struct moment moment = one;

		moment.stack.n = 1000000 + i;
		moments_add(&moments, 0, &moment);
	}
	assert_int_equal(moments.slot_count, 0);
	assert_int_equal(moments.count, 0);
	moments_done(&moments);
}

static void a_wait_is_in_each_slot_that_it_lasts(void **state)
{
	const struct moment wait = { .ns = 250, .samples = 1, .state = 8 };
	static const uint64_t parts[] = { 20, 100, 100, 30 };
	struct moments moments = { 0 };

	(void)state;
	moments_begin(&moments, 1584); /* sixteen slots of 100 */
	moments_add_wait(&moments, 330, &wait);
	assert_int_equal(moments.count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(moments.rows[i].slot, i);
		assert_int_equal(moments.rows[i].ns, parts[i]);
		assert_int_equal(moments.rows[i].samples, i == 3);
	}
	/* It began before the recording; it ends behind it. */
	moments_add_wait(&moments, 100, &wait);
	moments_add_wait(&moments, 99999, &wait);
	assert_int_equal(sum_of(&moments), 3 * 250);
	/* Another state is another row. */
	moments_add_wait(&moments, 330, &(struct moment){ .ns = 10, .state = 7 });
	assert_int_equal(moments.rows[moments.count - 1].state, 7);
	moments_done(&moments);
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
