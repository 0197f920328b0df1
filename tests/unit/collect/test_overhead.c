/*
 * Processes whose costs are made up: a trap takes 10 us and a handler 5, which count twice for what
 * they displace in the caches, so 1 % is some 400 samples a second.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h expects those before it. */
#include <cmocka.h>

#include "abi/handshake.h"
#include "collect/costs/overhead.h"

#define MS 1000000ULL

static const struct overhead_terms one_percent = { .share = 0.01,
						   .trap_ns = 10000,
						   .handler_ns = 5000 };

struct made {
	struct overhead_window window;
	struct overhead_look look;
	uint64_t period_ns;
	unsigned int rung;
	double share;
};

/* So much CPU time with these costs: whether a window ended, and the rung that it leads to. */
static bool run(struct made *made, uint64_t cpu_ns, uint64_t handler_ns, uint64_t switches_ns)
{
	const uint64_t samples = cpu_ns / (made->period_ns << made->rung);

	made->look.time_ns += cpu_ns;
	made->look.cpu_ns += cpu_ns;
	made->look.samples += samples;
	made->look.handler_ns += samples * handler_ns;
	made->look.switches_ns += switches_ns;
	return overhead_take(&made->window, &made->look, &one_percent, made->rung, &made->rung,
			     &made->share);
}

static struct made made_process(void)
{
	struct made made = { .look.time_ns = 1000 * MS };

	made.period_ns = 1000000000 / overhead_first_rate(&one_percent);
	made.rung = overhead_first_rung(&one_percent, made.period_ns);
	assert_false(run(&made, 200 * MS, 5000, 0));
	return made;
}

static void test_the_first_rate_is_what_the_budget_allows(void **state)
{
	const struct made made = made_process();
	const double share = 20000.0 / (double)(made.period_ns << made.rung);

	(void)state;
	assert_true(share <= 0.01 && share > 0.005);
	assert_int_equal(made.rung, 0);
}

static void test_first_handlers_are_dear(void **state)
{
	struct overhead_terms terms = one_percent;
	const uint64_t period_ns = 1000000000 / overhead_first_rate(&terms);

	(void)state;
	terms.handler_ns = 100000;
	assert_int_equal(overhead_first_rung(&terms, period_ns), HANDSHAKE_EVENT_RUNGS - 1);
}

static void test_a_cost_as_expected_changes_nothing(void **state)
{
	struct made made = made_process();

	(void)state;
	for (int i = 0; i < 10; i++) {
		assert_true(run(&made, 200 * MS, 5000, 0));
		assert_int_equal(made.rung, 0);
		assert_true(made.share < 0.01);
	}
}

/* A start of 6 ms is what all samples of 600 ms may take. */
static void test_a_start_is_made_up_for(void **state)
{
	struct made made = made_process();
	double cost_ns = 0;

	(void)state;
	made.look.start_ns = 6 * MS;
	assert_true(run(&made, 200 * MS, 5000, 0));
	assert_true(made.rung > 0);
	for (int i = 0; i < 10; i++)
		assert_true(run(&made, 200 * MS, 5000, 0));
	cost_ns = (double)made.look.start_ns + 20000.0 * (double)made.look.samples;
	assert_true(cost_ns < 0.01 * (double)made.look.cpu_ns);
	for (int i = 0; i < 40; i++)
		assert_true(run(&made, 200 * MS, 5000, 0));
	assert_int_equal(made.rung, 0);
}

static void test_dear_handlers_are_called_less_often(void **state)
{
	struct made made = made_process();

	(void)state;
	assert_true(run(&made, 400 * MS, 40000, 0));
	assert_true(made.share > 0.01);
	assert_int_equal(made.rung, 3);
	assert_true(run(&made, 4000 * MS, 40000, 0));
	assert_true(made.share < 0.01);
	assert_int_equal(made.rung, 3);
}

static void test_quick_handlers_are_called_more_often(void **state)
{
	const struct overhead_terms quick = { .share = 0.01,
					      .trap_ns = 1000,
					      .handler_ns = 500 };
	struct overhead_window window = { 0 };
	struct overhead_look look = { .time_ns = MS };
	unsigned int rung = 2;
	double share;

	(void)state;
	overhead_take(&window, &look, &quick, rung, &rung, &share);
	look = (struct overhead_look){
		.time_ns = 500 * MS, .cpu_ns = 400 * MS, .samples = 200, .handler_ns = 100000
	};
	assert_true(overhead_take(&window, &look, &quick, rung, &rung, &share));
	assert_int_equal(rung, 0);
}

static void test_what_switches_take_leaves_less_for_samples(void **state)
{
	struct made made = made_process();

	(void)state;
	assert_true(run(&made, 400 * MS, 5000, 1 * MS));
	assert_int_equal(made.rung, 1);
	/* And nothing where they take all of it: the longest period. */
	assert_true(run(&made, 800 * MS, 5000, 40 * MS));
	assert_int_equal(made.rung, HANDSHAKE_EVENT_RUNGS - 1);
}

/* Neither with few samples nor in a moment. */
static void test_a_window_is_long_enough_to_be_judged(void **state)
{
	struct made made = made_process();

	(void)state;
	assert_false(run(&made, 20 * MS, 900000, 0));
	assert_int_equal(made.rung, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_rate_is_what_the_budget_allows),
		cmocka_unit_test(test_first_handlers_are_dear),
		cmocka_unit_test(test_a_cost_as_expected_changes_nothing),
		cmocka_unit_test(test_a_start_is_made_up_for),
		cmocka_unit_test(test_dear_handlers_are_called_less_often),
		cmocka_unit_test(test_quick_handlers_are_called_more_often),
		cmocka_unit_test(test_what_switches_take_leaves_less_for_samples),
		cmocka_unit_test(test_a_window_is_long_enough_to_be_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
