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
		assert_near(statistics_t_p_value(rows[i].t, rows[i].freedom), 0.05, 0.0003);
	}
	assert_near(statistics_t_p_value(0, 5), 1, 1e-9);
	assert_near(statistics_t_p_value(-3.290527, 1e6), 0.001, 1e-6);
	/* -Euler's constant, and pi^2 / 6. */
	assert_near(statistics_digamma(1), -0.5772156649, 1e-7);
	assert_near(statistics_trigamma(1), 1.6449340668, 1e-7);
	assert_near(statistics_digamma(20), 2.9705239923, 1e-8);
	assert_near(statistics_trigamma(0.5), 4.9348022005, 1e-6);
}

static void a_share_has_wilsons_interval(void **state)
{
	const struct range few = statistics_share(1, 5), half = statistics_share(500, 1000);

	(void)state;
	assert_near(few.low, 0.0362, 0.0002);
	assert_near(few.high, 0.6245, 0.0002);
	assert_near(half.low, 0.4691, 0.0002);
	assert_near(half.high, 0.5309, 0.0002);
}

/*
 * Of a Poisson variable that is not 0, whatever its mean: at least 95 of a hundred, and those of one
 * hit, too, however rare it is.
 */
static void the_interval_of_few_hits_holds(void **state)
{
	enum { MOST = 60 };
	const double count = 10000;

	(void)state;
	for (double mean = 0.01; mean < 12; mean *= 1.1) {
		double term = exp(-mean), all = 0, held = 0;

		for (int hits = 1; hits < MOST; hits++) {
			const struct range range = statistics_share(hits, count);

			term *= mean / hits;
			all += term;
			held += range.low <= mean / count && mean / count <= range.high ? term
											: 0;
		}
		if (held < 0.945 * all)
			fail_msg("of a mean of %.2f %.1f %%", mean, 100 * held / all);
	}
	assert_near(statistics_share(5, count).low, 1.52 / count, 0.01 / count);
	assert_near(statistics_share(5, count).high, 11.67 / count, 0.01 / count);
	/* As many more are seen of nearly all. */
	assert_near(statistics_share(count - 5, count).high, 1 - 1.52 / count, 0.01 / count);
}

static void no_hit_at_all_still_has_an_upper_bound(void **state)
{
	const struct range none = statistics_share(0, 1000), all = statistics_share(50, 50);

	(void)state;
	assert_near(none.low, 0, 0);
	assert_near(none.high, 0.0037, 0.0001);
	assert_near(all.high, 1, 0);
	assert_near(all.low, 0.9262, 0.0002);
	assert_near(statistics_share(0, 0).high, 1, 0);
}

/* The example of Benjamini and Hochberg's paper: four of fifteen. */
static void discoveries_are_those_of_benjamini_and_hochberg(void **state)
{
	static const double p_values[] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201,
					   0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
					   0.4262, 0.5719, 0.6528, 0.7590, 1.0000 };

	(void)state;
	assert_near(statistics_discoveries(p_values, 15, 0.05), 0.0095, 0);
	assert_true(statistics_discoveries(p_values + 9, 6, 0.05) < 0);
	assert_true(statistics_discoveries(p_values, 0, 0.05) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_t_distribution_is_that_of_the_tables),
		cmocka_unit_test(a_share_has_wilsons_interval),
		cmocka_unit_test(the_interval_of_few_hits_holds),
		cmocka_unit_test(no_hit_at_all_still_has_an_upper_bound),
		cmocka_unit_test(discoveries_are_those_of_benjamini_and_hochberg),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
