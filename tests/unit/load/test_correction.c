/*
 * What measuring took is taken out of the times of calls, call by call.
 */
#include "load/correction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MAIN = 1, TINY = 2, OUTSIDE_STACK = 0 };
enum { FUNCTION_KIND = 1, BUILTIN_KIND = 2 };

/* 20 ns in a call's own time and 10 in its caller's; 25 and 11 if it was searched for. */
static const struct recording_cost costs[] = {
	{ .id = 1,
	  .process = 1,
	  .kind = FUNCTION_KIND,
	  .inside_ps = 20000,
	  .outside_ps = 10000,
	  .inside_miss_ps = 25000,
	  .outside_miss_ps = 11000,
	  .spread_ps = 2000,
	  .stretch_permille = 1000,
	  .pace_permille = RECORDING_UNKNOWN },
	{ .id = 2,
	  .process = 1,
	  .kind = RECORDING_UNCOUNTED,
	  .inside_ps = 7000,
	  .stretch_permille = 1000,
	  .pace_permille = RECORDING_UNKNOWN },
};
#define COSTS costs, sizeof costs / sizeof *costs

static struct call_row row_of(uint32_t stack, uint32_t parent, uint64_t calls, int64_t self_ns)
{
	return (struct call_row){ .process = 1,
				  .parent_stack = parent,
				  .calls = { .thread = 1,
					     .stack = stack,
					     .calls = calls,
					     .self_ns = self_ns,
					     .kind = FUNCTION_KIND,
					     .shortest_ns = RECORDING_UNKNOWN,
					     .longest_ns = RECORDING_UNKNOWN } };
}

static void a_call_costs_itself_and_its_caller(void **state)
{
	struct call_row rows[] = { row_of(MAIN, 0, 1, 100000),
				   row_of(TINY, MAIN, 1000, 30000) };
	struct correction sum;

	(void)state;
	correction_make(rows, 2, COSTS, false, &sum);
	assert_int_equal(rows[0].ns, 100000 - 20 - 1000 * 10);
	assert_int_equal(rows[1].ns, 30000 - 1000 * 20);
	assert_int_equal(sum.raw_ns, 130000);
	assert_int_equal(sum.removed_ns, 20 + 10000 + 20000);
	assert_int_equal(sum.clipped_ns, 0);
	assert_int_equal(sum.unknown_calls, 0);
}

static void the_outermost_calls_cost_what_is_outside_of_them(void **state)
{
	struct call_row rows[] = { row_of(OUTSIDE_STACK, 0, 0, 5000),
				   row_of(MAIN, 0, 100, 9000) };
	struct correction sum;

	(void)state;
	rows[0].calls.kind = 0;
	correction_make(rows, 2, COSTS, false, &sum);
	assert_int_equal(rows[0].ns, 5000 - 100 * 10);
	assert_int_equal(rows[1].ns, 9000 - 100 * 20);
}

static void rows_may_stand_in_any_order_and_are_of_their_thread(void **state)
{
	struct call_row rows[] = { row_of(TINY, MAIN, 10, 1000), row_of(MAIN, 0, 1, 1000),
				   row_of(MAIN, 0, 1, 1000) };
	struct correction sum;

	(void)state;
	rows[2].calls.thread = 2;
	correction_make(rows, 3, COSTS, false, &sum);
	assert_int_equal(rows[0].ns, 1000 - 10 * 20);
	assert_int_equal(rows[1].ns, 1000 - 20 - 10 * 10);
	assert_int_equal(rows[2].ns, 1000 - 20);
}

static void a_search_and_an_uncounted_event_have_their_own_cost(void **state)
{
	struct call_row rows[] = { row_of(MAIN, 0, 1, 100000), row_of(TINY, MAIN, 100, 30000) };
	struct correction sum;

	(void)state;
	rows[0].calls.uncounted[0] = 50;
	rows[1].calls.misses = 40;
	correction_make(rows, 2, COSTS, false, &sum);
	assert_int_equal(rows[0].ns, 100000 - 20 - (60 * 10 + 40 * 11) - 50 * 7);
	assert_int_equal(rows[1].ns, 30000 - 60 * 20 - 40 * 25);
}

/* 10 µs were left out, with two callees: 500 ns each, but of little time a quarter. */
static void what_is_new_costs_what_is_executed_next(void **state)
{
	struct call_row rows[] = { row_of(OUTSIDE_STACK, 0, 0, 5000),
				   row_of(MAIN, 0, 1, 100000), row_of(TINY, MAIN, 1, 820),
				   row_of(MAIN, 0, 1, 1020) };
	struct correction sum;

	(void)state;
	rows[0].calls.kind = 0;
	rows[0].calls.left_out_ns = 10000;
	rows[3].calls.thread = 2;
	correction_make(rows, 4, COSTS, false, &sum);
	assert_int_equal(rows[0].ns, 5000 - 10);
	assert_int_equal(rows[1].ns, 100000 - 20 - 10 - 500);
	assert_int_equal(rows[2].ns, 600);
	assert_int_equal(rows[3].ns, 1000);
	assert_true(rows[1].uncertainty_ns >= 700);
}

static void nothing_is_below_zero_and_what_would_be_is_reported(void **state)
{
	struct call_row rows[] = { row_of(MAIN, 0, 1, 4000), row_of(TINY, MAIN, 1000, 15000) };
	struct correction sum;

	(void)state;
	correction_make(rows, 2, COSTS, false, &sum);
	assert_int_equal(rows[0].ns, 0);
	assert_int_equal(rows[1].ns, 0);
	assert_int_equal(sum.clipped_ns, (20 + 10000 - 4000) + (20000 - 15000));
	assert_int_equal(sum.removed_ns, sum.raw_ns);
	assert_int_equal(rows[1].uncertainty_ns, 20000 / 4 + 1000);
}

/* Its cost is too high by that: more than what calibration found to be uncertain. */
static void what_would_be_below_zero_is_uncertain(void **state)
{
	struct call_row rows[] = { row_of(MAIN, 0, 1, 100000), row_of(TINY, MAIN, 1000, 12000),
				   row_of(TINY + 1, MAIN, 1000, 3000) };
	struct correction sum;

	(void)state;
	correction_make(rows, 3, COSTS, false, &sum);
	assert_int_equal(rows[1].ns, 0);
	assert_int_equal(rows[1].uncertainty_ns, 20000 - 12000);
	/* No more than it had. */
	assert_int_equal(rows[2].ns, 0);
	assert_int_equal(rows[2].uncertainty_ns, 20000 / 4 + 1000);
}

static void what_is_not_known_stays_and_is_counted(void **state)
{
	struct call_row rows[] = { row_of(MAIN, 0, 1, 4000), row_of(TINY, MAIN, 10, 5000),
				   row_of(MAIN, 0, 3, 700) };
	struct correction sum;

	(void)state;
	rows[1].calls.kind = BUILTIN_KIND;
	rows[2].process = 2;
	rows[2].calls.thread = 9;
	correction_make(rows, 3, COSTS, false, &sum);
	assert_int_equal(rows[0].ns, 4000 - 20);
	assert_int_equal(rows[1].ns, 5000);
	assert_int_equal(rows[2].ns, 700);
	assert_int_equal(sum.unknown_calls, 13);
}

static void raw_times_stay_and_the_sums_say_what_they_have(void **state)
{
	struct call_row rows[] = { row_of(MAIN, 0, 1, 100000),
				   row_of(TINY, MAIN, 1000, 30000) };
	struct correction sum;

	(void)state;
	correction_make(rows, 2, COSTS, true, &sum);
	assert_int_equal(rows[0].ns, 100000);
	assert_int_equal(rows[1].ns, 30000);
	assert_int_equal(sum.removed_ns, 20 + 10000 + 20000);
}

static void slower_bytecode_is_taken_out_of_what_is_left(void **state)
{
	struct recording_cost slow = costs[0];
	struct call_row rows[] = { row_of(MAIN, 0, 1, 12020) };
	struct correction sum;

	(void)state;
	slow.stretch_permille = 1200;
	correction_make(rows, 1, &slow, 1, false, &sum);
	assert_int_equal(rows[0].ns, 10000);
	assert_true(rows[0].uncertainty_ns >= 1000);
}

/* 30 ns a call of one, and 60 of the other's. */
static void the_pace_is_that_of_what_calls_cost(void **state)
{
	struct recording_cost both[] = { costs[0], costs[0] };
	struct call_row rows[] = { row_of(MAIN, 0, 200, 100000),
				   row_of(TINY, MAIN, 100, 30000) };
	struct correction sum;

	(void)state;
	both[0].pace_permille = 1600;
	both[1].process = 2;
	both[1].inside_ps *= 2;
	both[1].outside_ps *= 2;
	both[1].pace_permille = 1000;
	rows[1].process = 2;
	correction_make(rows, 2, both, 2, false, &sum);
	assert_float_equal(sum.slowdown, 1.3, 1e-9);
	both[1].pace_permille = RECORDING_UNKNOWN;
	correction_make(rows, 2, both, 2, false, &sum);
	assert_float_equal(sum.slowdown, 1.6, 1e-9);
	both[0].pace_permille = RECORDING_UNKNOWN;
	correction_make(rows, 2, both, 2, false, &sum);
	assert_float_equal(sum.slowdown, 0, 1e-9);
}

/* Each call 2 ns either way, and the share of all that calibration cannot see. */
static void the_doubt_is_at_least_what_calibration_found(void **state)
{
	struct call_row rows[] = { row_of(MAIN, 0, 1, 100000),
				   row_of(TINY, MAIN, 1000, 30000) };
	struct correction sum;

	(void)state;
	correction_make(rows, 2, COSTS, false, &sum);
	assert_true(sum.uncertainty_ns >= 2000);
	assert_true(sum.uncertainty_ns < sum.removed_ns / 2);
	assert_int_equal(rows[0].uncertainty_ns + rows[1].uncertainty_ns, sum.uncertainty_ns);
}

static void rubys_calls_are_doubted_more_where_their_callees_were_searched_for(void **state)
{
	enum { RUBY_KIND = 5 };
	static const struct recording_cost ruby = { .id = 1,
						    .process = 1,
						    .kind = RUBY_KIND,
						    .inside_ps = 20000,
						    .inside_miss_ps = 20000,
						    .stretch_permille = 1000,
						    .pace_permille = RECORDING_UNKNOWN };
	struct call_row rows[] = { row_of(MAIN, 0, 1000, 100000) };
	struct correction sum;

	(void)state;
	rows[0].calls.kind = RUBY_KIND;
	correction_make(rows, 1, &ruby, 1, false, &sum);
	assert_int_equal(rows[0].uncertainty_ns, 20000 / 4);
	rows[0].calls.misses = 500;
	correction_make(rows, 1, &ruby, 1, false, &sum);
	assert_int_equal(rows[0].ns, 80000);
	assert_int_equal(rows[0].uncertainty_ns, 10000 / 4 + 6000);
}

static void the_shortest_and_longest_call_of_a_leaf_lose_their_own_cost(void **state)
{
	struct call_row rows[] = { row_of(TINY, 0, 1000, 30000) };
	struct correction sum;

	(void)state;
	rows[0].calls.shortest_ns = 22;
	rows[0].calls.longest_ns = 520;
	correction_make(rows, 1, COSTS, false, &sum);
	assert_int_equal(rows[0].shortest_ns, 2);
	assert_int_equal(rows[0].longest_ns, 500);
}

static void a_call_that_calls_loses_as_much_as_all_do(void **state)
{
	struct call_row rows[] = { row_of(MAIN, 0, 2, 20040), row_of(TINY, MAIN, 1000, 40000) };
	struct correction sum;

	(void)state;
	rows[0].calls.shortest_ns = 20020;
	rows[0].calls.longest_ns = 40020;
	correction_make(rows, 2, COSTS, false, &sum);
	/* Of 60,000 ns without its own cost 30,000 are the calls'. */
	assert_int_equal(rows[0].shortest_ns, 10000);
	assert_int_equal(rows[0].longest_ns, 20000);
}

/* What cannot be, and seems so, for costs are what calls take on average. */
static void no_call_is_longer_than_all_together(void **state)
{
	struct call_row rows[] = { row_of(TINY, 0, 100, 2500) };
	struct correction sum;

	(void)state;
	rows[0].calls.shortest_ns = 1;
	rows[0].calls.longest_ns = 2400;
	correction_make(rows, 1, COSTS, false, &sum);
	assert_int_equal(rows[0].ns, 500);
	assert_int_equal(rows[0].longest_ns, 500);
}

static void no_rows_are_nothing(void **state)
{
	struct correction sum;

	(void)state;
	correction_make(NULL, 0, NULL, 0, false, &sum);
	assert_int_equal(sum.raw_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_costs_itself_and_its_caller),
		cmocka_unit_test(the_outermost_calls_cost_what_is_outside_of_them),
		cmocka_unit_test(rows_may_stand_in_any_order_and_are_of_their_thread),
		cmocka_unit_test(a_search_and_an_uncounted_event_have_their_own_cost),
		cmocka_unit_test(what_is_new_costs_what_is_executed_next),
		cmocka_unit_test(nothing_is_below_zero_and_what_would_be_is_reported),
		cmocka_unit_test(what_would_be_below_zero_is_uncertain),
		cmocka_unit_test(what_is_not_known_stays_and_is_counted),
		cmocka_unit_test(raw_times_stay_and_the_sums_say_what_they_have),
		cmocka_unit_test(slower_bytecode_is_taken_out_of_what_is_left),
		cmocka_unit_test(the_pace_is_that_of_what_calls_cost),
		cmocka_unit_test(the_doubt_is_at_least_what_calibration_found),
		cmocka_unit_test(
			rubys_calls_are_doubted_more_where_their_callees_were_searched_for),
		cmocka_unit_test(the_shortest_and_longest_call_of_a_leaf_lose_their_own_cost),
		cmocka_unit_test(a_call_that_calls_loses_as_much_as_all_do),
		cmocka_unit_test(no_call_is_longer_than_all_together),
		cmocka_unit_test(no_rows_are_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
