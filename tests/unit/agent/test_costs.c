/*
 * test_costs - what a call costs, by made loops of which it is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/trace/area.h"
#include "agent/trace/calibrate.h"

enum { NOTHING, INLINED, FUNCTION, OTHER, BUILTIN, TWO_CALLS, LOOPS };

static struct trace_area *area;

struct trace_area *trace_area_of_process(void)
{
	return area;
}

static const struct trace_loop loops[LOOPS] = {
	[FUNCTION] = { INLINED, 1000 },
	[BUILTIN] = { BUILTIN, 250 },
};
static const struct trace_calibration calibration = { .loops = loops, .count = LOOPS };

/* Going round takes 10, and 2 more with hooks; the function executes 40 itself. */
static const struct trace_measured measured[LOOPS] = {
	[NOTHING] = { .plain = 10, .added = 2 },
	[INLINED] = { .plain = 50, .added = 2 },
	[FUNCTION] = { .plain = 60, .added = 62, .inner = 65, .noise = 3, .calls = 1 },
	[OTHER] = { .plain = 20, .added = 82, .noise = 4, .calls = 1 },
	[BUILTIN] = { .plain = 90, .added = 32, .inner = 35, .calls = 1 },
	[TWO_CALLS] = { .plain = 30, .added = 102, .inner = 40, .noise = 60, .calls = 2 },
};

static struct trace_cost cost_by(const struct trace_rule *rule, const struct trace_cost *alike)
{
	struct trace_cost cost;

	assert_true(trace_find_cost(&calibration, measured, rule, alike, &cost));
	return cost;
}

static void a_call_costs_the_mean_of_its_loops_without_going_round(void **state)
{
	(void)state;
	const struct trace_cost cost = cost_by(
		&(struct trace_rule){
			.count = 2, .own_count = 1, .loops = { FUNCTION, OTHER } },
		NULL);

	assert_int_equal(cost.inside + cost.outside, 70);
	/* Of what is seen inside, the work that it does is not the hooks'. */
	assert_int_equal(cost.inside, 65 - 40);
	/* As far as a loop is from the mean, or its rounds from each other. */
	assert_int_equal(cost.spread, 10);
	assert_int_equal(cost.stretch_permille, 1000);
}

static void of_a_builtin_a_quarter_of_the_bare_call_is_its_own(void **state)
{
	(void)state;
	const struct trace_cost cost = cost_by(
		&(struct trace_rule){ .count = 1, .own_count = 1, .loops = { BUILTIN } }, NULL);

	assert_int_equal(cost.inside + cost.outside, 30);
	assert_int_equal(cost.inside, 35 - 80 / 4);
}

static void a_turn_of_two_calls_costs_half_each(void **state)
{
	(void)state;
	const struct trace_cost cost = cost_by(
		&(struct trace_rule){ .count = 1, .own_count = 1, .loops = { TWO_CALLS } },
		NULL);

	assert_int_equal(cost.inside + cost.outside, 50);
	assert_int_equal(cost.inside, 20);
	assert_int_equal(cost.spread, 30);
}

static void what_is_not_known_to_be_inside_is_the_same_part_as_of_what_is_alike(void **state)
{
	(void)state;
	const struct trace_cost alike = { .inside = 10, .outside = 30 };
	const struct trace_rule rule = { .count = 1, .loops = { OTHER } };

	assert_int_equal(cost_by(&rule, &alike).inside, 20);
	assert_int_equal(cost_by(&rule, &alike).outside, 60);
	assert_int_equal(cost_by(&rule, NULL).inside, 0);
}

static void calls_that_were_not_counted_cost_nothing_that_is_known(void **state)
{
	(void)state;
	struct trace_cost cost;

	assert_false(trace_find_cost(
		&calibration, measured,
		&(struct trace_rule){ .count = 2, .loops = { FUNCTION, INLINED } }, NULL,
		&cost));
}

static void a_cost_is_reported_in_the_area_and_again_in_a_childs(void **state)
{
	(void)state;
	static struct trace_area parents, childs;
	const struct trace_cost cost = { .inside = 5, .outside = 6, .stretch_permille = 1000 };
	const struct trace_cost event = trace_uncounted_cost(7, -1);

	area = &parents;
	trace_set_burst(99);
	trace_report_cost(TRACE_KIND_RUBY, &cost);
	trace_report_cost(TRACE_KIND_COUNT + TRACE_UNCOUNTED_OTHER, &event);
	area = &childs;
	trace_report_costs();
	area = NULL;
	for (const struct trace_area *at = &parents; at != NULL;
	     at = at == &parents ? &childs : NULL) {
		const struct trace_cost *other =
			&at->costs[TRACE_KIND_COUNT + TRACE_UNCOUNTED_OTHER];

		assert_int_equal(at->costs[TRACE_KIND_RUBY].outside, 6);
		assert_int_equal(at->costs[TRACE_KIND_RUBY].burst_ticks, 99);
		assert_int_equal(at->costs[TRACE_KIND_RUBY].is_known, 1);
		assert_int_equal(other->inside, 7);
		assert_int_equal(other->spread, 0);
		assert_int_equal(at->costs[TRACE_KIND_PYTHON].is_known, 0);
	}
	assert_true(trace_cost_is_known(TRACE_KIND_RUBY));
	assert_false(trace_cost_is_known(TRACE_KIND_PYTHON));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_costs_the_mean_of_its_loops_without_going_round),
		cmocka_unit_test(of_a_builtin_a_quarter_of_the_bare_call_is_its_own),
		cmocka_unit_test(a_turn_of_two_calls_costs_half_each),
		cmocka_unit_test(
			what_is_not_known_to_be_inside_is_the_same_part_as_of_what_is_alike),
		cmocka_unit_test(calls_that_were_not_counted_cost_nothing_that_is_known),
		cmocka_unit_test(a_cost_is_reported_in_the_area_and_again_in_a_childs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
