/*
 * How often a thread is walked whose walks take a given time, on a clock made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/sample/budget.h"

/* When the run begins: long after nothing. */
#define MORNING 1000000

struct run {
	u64 now, program_ticks, walks, early;
};

/*
 * Traps of a period that counts the handler's time, too: one that is due when the
 * handler returns comes before the program has executed anything.
 */
static struct run run_traps(u64 period, u64 walk, u64 skip, unsigned int traps)
{
	struct budget budget = { 0 };
	struct run run = { .now = MORNING };
	u64 due = run.now + period;

	for (unsigned int i = 0; i < traps; i++) {
		if (run.now < due) {
			run.program_ticks += due - run.now;
			run.now = due;
		}
		due = run.now + period;
		const u64 begin = run.now;
		const bool is_earned = budget_begin(&budget, begin, 0);

		run.now += is_earned ? walk : skip;
		budget_end(&budget, begin, run.now);
		run.walks += is_earned;
		run.early += !is_earned;
	}
	return run;
}

static void test_a_walk_shorter_than_half_a_period_is_always_made(void **state)
{
	(void)state;
	assert_int_equal(run_traps(100, 49, 1, 1000).early, 0);
	assert_int_equal(run_traps(100, 1, 1, 1000).early, 0);
}

static void test_a_walk_longer_than_a_period_leaves_the_program_half(void **state)
{
	static const u64 walks[] = { 51, 99, 100, 101, 150, 1000, 12345 };

	(void)state;
	for (size_t i = 0; i < sizeof walks / sizeof walks[0]; i++) {
		const struct run run = run_traps(100, walks[i], 1, 100000);

		assert_in_range(run.walks, 10, 100000);
		assert_in_range(run.program_ticks, (run.now - MORNING) * 48 / 100, run.now);
	}
}

static void test_a_thread_that_waits_pays_its_debt(void **state)
{
	struct budget budget = { 0 };

	(void)state;
	assert_true(budget_begin(&budget, MORNING, 0));
	budget_end(&budget, MORNING, MORNING + 500);
	assert_false(budget_begin(&budget, MORNING + 999, 0));
	assert_true(budget_begin(&budget, MORNING + 1000, 0));
}

static void test_credit_is_given_once(void **state)
{
	struct budget budget = { 0 };
	u64 now = MORNING, walks = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		const bool is_earned = budget_begin(&budget, now, 2000);

		walks += is_earned;
		budget_end(&budget, now, now + (is_earned ? 500 : 1));
		now += is_earned ? 500 : 1;
	}
	/* The first, and those that four debts of 500 were credited for. */
	assert_int_equal(walks, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_walk_shorter_than_half_a_period_is_always_made),
		cmocka_unit_test(test_a_walk_longer_than_a_period_leaves_the_program_half),
		cmocka_unit_test(test_a_thread_that_waits_pays_its_debt),
		cmocka_unit_test(test_credit_is_given_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
