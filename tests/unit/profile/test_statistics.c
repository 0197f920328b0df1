#include "cmocka_all.h"

#include <math.h>

#include "profile/statistics.h"

static void assert_near(double value, double expected, double off)
{
	if (!(fabs(value - expected) <= off))
		fail_msg("%.6f, and not %.6f", value, expected);
}

/* As in the tables of textbooks. */
static void the_t_distribution_is_that_of_the_tables(void **state)
{
	static const struct {
		double freedom, t;
	} rows[] = { { 1, 12.706 }, { 2, 4.303 }, { 3, 3.182 },  { 4, 2.776 },
		     { 5, 2.571 },  { 9, 2.262 }, { 18, 2.101 }, { 60, 2.000 } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_near(statistics_t_95(rows[i].freedom), rows[i].t, rows[i].t / 100);
		assert_near(statistics_t_chance(rows[i].t, rows[i].freedom), 0.05, 0.0003);
	}
	assert_near(statistics_t_chance(0, 5), 1, 1e-9);
	assert_near(statistics_normal_chance(1.959964), 0.05, 1e-6);
	assert_near(statistics_normal_chance(-3.290527), 0.001, 1e-6);
}

static void a_share_has_wilsons_interval(void **state)
{
	const struct range few = statistics_share(1, 10), half = statistics_share(500, 1000);

	(void)state;
	assert_near(few.low, 0.0179, 0.0002);
	assert_near(few.high, 0.4042, 0.0002);
	assert_near(half.low, 0.4691, 0.0002);
	assert_near(half.high, 0.5309, 0.0002);
}

static void no_hit_at_all_still_has_an_upper_bound(void **state)
{
	const struct range none = statistics_share(0, 1000), all = statistics_share(50, 50);

	(void)state;
	assert_near(none.low, 0, 0);
	assert_near(none.high, 0.0038, 0.0001);
	assert_near(all.high, 1, 0);
	assert_near(all.low, 0.9287, 0.0002);
	assert_near(statistics_share(0, 0).high, 1, 0);
}

/* The example of Benjamini and Hochberg's paper: four of fifteen. */
static void discoveries_are_those_of_benjamini_and_hochberg(void **state)
{
	static const double chances[] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201,
					  0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
					  0.4262, 0.5719, 0.6528, 0.7590, 1.0000 };

	(void)state;
	assert_near(statistics_discoveries(chances, 15, 0.05), 0.0095, 0);
	assert_true(statistics_discoveries(chances + 9, 6, 0.05) < 0);
	assert_true(statistics_discoveries(chances, 0, 0.05) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_t_distribution_is_that_of_the_tables),
		cmocka_unit_test(a_share_has_wilsons_interval),
		cmocka_unit_test(no_hit_at_all_still_has_an_upper_bound),
		cmocka_unit_test(discoveries_are_those_of_benjamini_and_hochberg),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
