/* What sampling cost its programs: which figures add up to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h expects those before it. */
#include <cmocka.h>

#include "collect/processes/ring_view.h"
#include "collect/session/sampling_cost.h"
#include "collect/costs/switch_cost.h"
#include "collect/costs/trigger_cost.h"

#define US 1000ULL

static const struct switch_costs costs = {
	.tree_ns = 1 * US, .all_ns = 15 * US, .siblings_ns = 200, .gap_ns = 8 * US
};
/* A tick is a nanosecond. */
static const struct sampling_cost_terms terms = { .wall_ns = 1000, .ticks = 1000 };
static const struct trigger_costs triggers = { .event_ns = 20 * US, .timer_ns = 5 * US };

static void a_slow_handler_counts_as_long_as_it_took(void **state)
{
	struct sampling_cost cost = { 0 };

	(void)state;
	/* Ten handlers: six of 2 us, three of 400, and one of which no time is known. */
	sampling_cost_add(&cost,
			  &(struct ring_costs){ .handler_samples = 10,
						.handler_timed = 6,
						.handler_ticks = 12 * US,
						.handler_slow = 3,
						.handler_slow_ns = 1200 * US },
			  0);
	assert_float_equal(sampling_cost_sum(&cost, &terms, &triggers),
			   (1200 + 7 * 2 + 10 * 20) * US, 1);
}

static void what_handlers_displaced_from_caches_counts_as_well(void **state)
{
	const struct ring_costs ring = { .handler_samples = 10,
					 .handler_timed = 10,
					 .handler_ticks = 100 * US,
					 .first_walk_ticks = 8 * US,
					 .second_walk_ticks = 2 * US };
	struct sampling_cost cost = { 0 };

	(void)state;
	/* Three quarters of a walk's time went to fetching, half of which the program has again. */
	assert_int_equal(sampling_cost_displaced_ticks(&ring), 75 * US / 2);
	sampling_cost_add(&cost, &ring, 0);
	assert_float_equal(sampling_cost_sum(&cost, &terms, &triggers),
			   (100 + 37.5 + 10 * 20) * US, 1);
	assert_int_equal(
		sampling_cost_displaced_ticks(&(struct ring_costs){
			.handler_samples = 10, .handler_timed = 10, .handler_ticks = US }),
		0);
}

static void each_trap_costs_what_its_trigger_does(void **state)
{
	struct sampling_cost cost = { 0 };

	(void)state;
	sampling_cost_add(&cost, &(struct ring_costs){ .handler_samples = 10 }, 4);
	assert_float_equal(sampling_cost_sum(&cost, &terms, &triggers), (6 * 20 + 4 * 5) * US,
			   1);
	/* More than there were are no timer's. */
	sampling_cost_add(&cost, &(struct ring_costs){ .handler_samples = 1 }, 100);
	assert_float_equal(sampling_cost_sum(&cost, &terms, &triggers), (6 * 20 + 5 * 5) * US,
			   1);
}

static void switches_between_siblings_cost_by_what_events_missed(void **state)
{
	static const struct {
		const char *name;
		uint64_t switches, missed_ns;
		double ns;
	} cases[] = {
		{ "all from one thread to another", 1000, 0, 1000 * 200 },
		{ "all to other processes", 1000, 8000 * US, 1000 * 15 * US },
		{ "a tenth to others", 1000, 800 * US, 900 * 200 + 100 * 15 * US },
		{ "more missed than by all", 1000, 80000 * US, 1000 * 15 * US },
		{ "none", 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct sampling_cost_terms with = terms;
		struct sampling_cost cost = { 0 };

		print_message("%s\n", cases[i].name);
		with.switch_costs = &costs;
		sampling_cost_add_siblings(
			&cost, &(struct sibling_switches){ .count = cases[i].switches,
							   .missed_ns = cases[i].missed_ns });
		assert_float_equal(sampling_cost_sum(&cost, &with, &triggers), cases[i].ns, 1);
	}
	assert_float_equal(
		switch_costs_of_siblings(&(struct switch_costs){ .all_ns = 7 }, 3, 0), 21,
		1e-9);
}

static void a_parents_switches_are_in_what_starts_cost(void **state)
{
	struct sampling_cost_terms with = terms;
	struct sampling_cost cost = { 0 };

	(void)state;
	with.switch_costs = &costs;
	sampling_cost_add_switches(&cost, SWITCH_OF_BIRTH, 200);
	for (int i = 0; i < 100; i++)
		sampling_cost_add_start(&cost, true);
	assert_float_equal(sampling_cost_sum(&cost, &with, &triggers), 200 * 15 * US, 1);
	with.start_costs.exec_ns = 180 * US;
	assert_float_equal(sampling_cost_sum(&cost, &with, &triggers), 100 * 180 * US, 1);
}

static void nothing_is_measured_where_there_was_no_trap(void **state)
{
	(void)state;
	const struct trigger_costs none =
		trigger_costs_measure(&(struct trigger_costs_terms){ .period_ns = 1000 * US });

	assert_int_equal(none.event_ns + none.timer_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_handler_counts_as_long_as_it_took),
		cmocka_unit_test(what_handlers_displaced_from_caches_counts_as_well),
		cmocka_unit_test(each_trap_costs_what_its_trigger_does),
		cmocka_unit_test(switches_between_siblings_cost_by_what_events_missed),
		cmocka_unit_test(a_parents_switches_are_in_what_starts_cost),
		cmocka_unit_test(nothing_is_measured_where_there_was_no_trap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
