/*
 * Times of runs, as they are made up here.
 */
#include "cmocka_all.h"

#include "profile/compare.h"
#include "profile/runs.h"

static const double steady[] = { 100, 101, 99, 100, 102, 98, 100 };

static void test_the_median_is_the_middle(void **state)
{
	(void)state;
	assert_true(runs_median(steady, 7) == 100);
	assert_true(runs_median((const double[]){ 4, 1, 3, 2 }, 4) == 2.5);
	assert_true(runs_median(NULL, 0) == 0);
	assert_int_equal(runs_nearest_to_median((const double[]){ 9, 1, 5 }, 3), 2);
}

static void test_only_what_is_far_from_all_others_is_an_outlier(void **state)
{
	(void)state;
	assert_true(runs_is_outlier(steady, 7, 130));
	assert_true(runs_is_outlier(steady, 7, 70));
	assert_false(runs_is_outlier(steady, 7, 104));
	/* Runs that agree to the nanosecond: 1 % is none. */
	assert_false(runs_is_outlier((const double[]){ 100, 100, 100, 100, 100 }, 5, 100.9));
	assert_false(runs_is_outlier(steady, 4, 1000));
}

static struct change change_between(const double *before, const double *after, size_t count)
{
	return change_over_runs((const double *const[2]){ before, after },
				(const size_t[2]){ count, count }, 0.05);
}

static void test_a_difference_far_beyond_the_scatter_needs_no_more_runs(void **state)
{
	const double slow[] = { 120, 121, 119, 120, 122, 118, 120 };
	const struct change change = change_between(steady, slow, 7);

	(void)state;
	assert_int_equal(change.verdict, VERDICT_SLOWER);
	assert_true(runs_are_enough(&change, 0.05));
}

static void test_no_difference_far_within_the_margin_needs_no_more_runs(void **state)
{
	const struct change change = change_between(steady, steady, 7);

	(void)state;
	assert_int_equal(change.verdict, VERDICT_UNCHANGED);
	assert_true(runs_are_enough(&change, 0.05));
	assert_false(runs_are_enough(&change, 0.01));
}

/* 5 % are not enough for a look after every run. */
static void test_a_difference_that_may_be_chance_needs_more(void **state)
{
	const double noisy[] = { 100, 130, 90, 140, 80, 120, 110 };
	const double slower[] = { 132, 162, 122, 172, 112, 152, 142 };
	const struct change change = change_between(noisy, slower, 7);

	(void)state;
	assert_true(change.p_value < 0.05);
	assert_false(runs_are_enough(&change, 0.05));
}

static void test_several_limits_are_passed_by_less_chance(void **state)
{
	const struct change change = {
		.before_ns = 100, .after_ns = 112, .low_ns = 2, .high_ns = 22, .p_value = 0.02
	};

	(void)state;
	assert_int_equal(change_check_limit(&change, 0.1, 1), LIMIT_PASSED);
	assert_int_equal(change_check_limit(&change, 0.1, 2), LIMIT_PASSED);
	assert_int_equal(change_check_limit(&change, 0.1, 3), LIMIT_UNDECIDED);
	assert_int_equal(change_check_limit(&change, 0.15, 1), LIMIT_KEPT);
}

static void test_a_limit_that_could_not_have_been_seen_is_undecided(void **state)
{
	const struct change change = {
		.before_ns = 100, .after_ns = 100, .low_ns = -12, .high_ns = 12, .p_value = 1
	};

	(void)state;
	assert_int_equal(change_check_limit(&change, 0.1, 1), LIMIT_UNDECIDED);
	assert_int_equal(change_check_limit(&change, 0.2, 1), LIMIT_KEPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_median_is_the_middle),
		cmocka_unit_test(test_only_what_is_far_from_all_others_is_an_outlier),
		cmocka_unit_test(test_a_difference_far_beyond_the_scatter_needs_no_more_runs),
		cmocka_unit_test(test_no_difference_far_within_the_margin_needs_no_more_runs),
		cmocka_unit_test(test_a_difference_that_may_be_chance_needs_more),
		cmocka_unit_test(test_several_limits_are_passed_by_less_chance),
		cmocka_unit_test(test_a_limit_that_could_not_have_been_seen_is_undecided),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
