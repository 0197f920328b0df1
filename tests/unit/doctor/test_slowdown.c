#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "doctor/slowdown.h"

static void equal_pairs_have_no_interval(void **state)
{
	const double without[] = { 1, 2, 3 }, with[] = { 1.1, 2.2, 3.3 };
	struct slowdown slowdown;
	(void)state;

	assert_true(slowdown_of_pairs(without, with, 3, &slowdown));
	assert_float_equal(slowdown.ratio, 1.1, 1e-9);
	assert_float_equal(slowdown.low, 1.1, 1e-9);
	assert_float_equal(slowdown.high, 1.1, 1e-9);
	assert_int_equal(slowdown.pairs, 3);
}

/* By hand: logarithms -d, 0, d with d = ln 1.1 deviate by d; t of 2 degrees is 4.303. */
static void the_interval_is_students(void **state)
{
	const double without[] = { 1.1, 1, 1 }, with[] = { 1, 1, 1.1 };
	struct slowdown slowdown;
	(void)state;

	assert_true(slowdown_of_pairs(without, with, 3, &slowdown));
	assert_float_equal(slowdown.ratio, 1.0, 1e-9);
	/* exp(4.303 * 0.0953102 / sqrt(3)) */
	assert_float_equal(slowdown.high, 1.26716F, 1e-4);
	assert_float_equal(slowdown.low, 0.789166F, 1e-4);
}

static void what_is_no_time_is_refused(void **state)
{
	const double good[] = { 1, 1, 1 }, bad[] = { 1, 0, 1 };
	struct slowdown slowdown;
	(void)state;

	assert_false(slowdown_of_pairs(good, good, 2, &slowdown));
	assert_false(slowdown_of_pairs(good, bad, 3, &slowdown));
	assert_false(slowdown_of_pairs(bad, good, 3, &slowdown));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_pairs_have_no_interval),
		cmocka_unit_test(the_interval_is_students),
		cmocka_unit_test(what_is_no_time_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
