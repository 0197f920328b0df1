#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/processes/maps_interval.h"

static void thousands_of_changes_are_read_once_a_round(void **state)
{
	struct maps_interval interval = { 0 };
	uint64_t changed_ns = 0, readings = 0;

	(void)state;
	for (uint64_t round_ns = 1000; round_ns <= 10000; round_ns += 1000) {
		for (uint64_t i = 0; i < 1000; i++) {
			maps_interval_change(&interval, round_ns, round_ns + i);
			readings += maps_interval_begin(&interval, round_ns, round_ns + i,
							&changed_ns);
		}
		if (round_ns == 1000)
			assert_int_equal(changed_ns, 1000);
	}
	assert_int_equal(readings, 10);
	/* The reading was behind all of them. */
	assert_false(maps_interval_begin(&interval, 11000, 11000, &changed_ns));
}

static void readings_take_a_twentieth_of_the_time(void **state)
{
	struct maps_interval interval = { 0 };
	uint64_t changed_ns = 0, spent_ns = 0, now_ns = 1000;

	(void)state;
	while (now_ns < 10000000) {
		maps_interval_change(&interval, now_ns, now_ns);
		if (maps_interval_begin(&interval, now_ns, now_ns, &changed_ns)) {
			maps_interval_end(&interval, now_ns, now_ns + 2000);
			now_ns += 2000;
			spent_ns += 2000;
		}
		now_ns += 100;
	}
	assert_in_range(spent_ns, now_ns / 22, now_ns / 20 + 2000);
	/* A change that was put off is read when it is time. */
	assert_true(
		maps_interval_begin(&interval, now_ns + 50000, now_ns + 50000, &changed_ns));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thousands_of_changes_are_read_once_a_round),
		cmocka_unit_test(readings_take_a_twentieth_of_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
