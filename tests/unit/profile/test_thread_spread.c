/*
 * What threads that differ say of a row's variance: four of a hundred samples in each slot of time.
 */
#include "cmocka_all.h"

#include "profile/change_points.h"
#include "profile/sequence.h"
#include "profile/thread_spread.h"

enum { THREADS = 4, IN_SLOT = 100 };

struct run {
	float part[SERIES_SLOTS], whole[SERIES_SLOTS];
	float part_of_thread[THREADS], whole_of_thread[THREADS];
};

/* share says how much of a slot a thread is in the row. */
static struct run run_of(float (*share)(size_t thread, size_t slot))
{
	struct run run = { .part = { 0 } };

	for (size_t thread = 0; thread < THREADS; thread++)
		for (size_t slot = 0; slot < SERIES_SLOTS; slot++) {
			const float part = IN_SLOT * share(thread, slot);

			run.part[slot] += part;
			run.whole[slot] += IN_SLOT;
			run.part_of_thread[thread] += part;
			run.whole_of_thread[thread] += IN_SLOT;
		}
	return run;
}

static struct row_series series_of(const struct run *run)
{
	return (struct row_series){
		.part = run->part, .whole = run->whole, .count = SERIES_SLOTS, .weight = 1
	};
}

static struct thread_spread_terms terms_of(const struct run *run, struct row_series *series,
					   const uint32_t groups[THREADS])
{
	return (struct thread_spread_terms){
		.series = series,
		.part_of_thread = run->part_of_thread,
		.whole_of_thread = run->whole_of_thread,
		.group_of_thread = groups,
		.threads = THREADS,
	};
}

static double inflation_of(const struct run *run, const uint32_t groups[THREADS])
{
	struct row_series series = series_of(run);
	const struct thread_spread_terms terms = terms_of(run, &series, groups);

	return thread_spread_inflation(&terms);
}

static bool is_once(const struct run *run, const uint32_t groups[THREADS])
{
	struct row_series series = series_of(run);
	const struct thread_spread_terms terms = terms_of(run, &series, groups);

	return thread_spread_is_once(&terms);
}

static float one_for_half_of_the_time(size_t thread, size_t slot)
{
	return thread == 1 && slot < SERIES_SLOTS / 2 ? 1 : 0;
}

static float one_for_ever(size_t thread, size_t slot)
{
	(void)slot;
	return thread == 1 ? 1 : 0;
}

static float all_for_half_of_the_time(size_t thread, size_t slot)
{
	(void)thread;
	return slot < SERIES_SLOTS / 2 ? 1 : 0;
}

static float by_turns(size_t thread, size_t slot)
{
	return (slot / 2 + thread) % 4 == 0 && thread < 2 ? 1 : 0;
}

static void threads_that_differ_are_few_draws(void **state)
{
	static const uint32_t alike[THREADS] = { 0 }, none[THREADS] = { 0, 1, 2, 3 };
	const struct run run = run_of(one_for_half_of_the_time);
	/* Shares of 0, 1/2, 0, 0: their mean is off by 1/8, and t is 3.18. */
	const double of_chance = 4.0 * IN_SLOT * SERIES_SLOTS * (1.0 / 8) * (7.0 / 8);
	const double known =
		16.0 * (1.0 / 8) * (1.0 / 8) * IN_SLOT * SERIES_SLOTS * IN_SLOT * SERIES_SLOTS;
	const double wider = 3.182 / 1.96;

	(void)state;
	const double found = inflation_of(&run, alike);

	assert_true(found > 0.99 * known / of_chance * wider * wider);
	assert_true(found < 1.01 * known / of_chance * wider * wider);
	assert_true(inflation_of(&run, none) == 0);
}

static void threads_that_change_together_or_never_add_nothing(void **state)
{
	static const uint32_t alike[THREADS] = { 0 };
	const struct run constant = run_of(one_for_ever),
			 all = run_of(all_for_half_of_the_time);
	const struct run often = run_of(by_turns);

	(void)state;
	assert_true(inflation_of(&constant, alike) == 0);
	assert_true(inflation_of(&all, alike) == 0);
	/* Of so many changes the series says enough. */
	assert_true(inflation_of(&often, alike) == 0);
}

static void threads_of_other_work_are_not_compared(void **state)
{
	/* The one that changes is a main thread. */
	static const uint32_t groups[THREADS] = { 0, 1, 0, 0 };
	const struct run run = run_of(one_for_half_of_the_time);

	(void)state;
	assert_true(inflation_of(&run, groups) == 0);
}

static void threads_in_their_only_phase_came_once(void **state)
{
	static const uint32_t alike[THREADS] = { 0 }, main_apart[THREADS] = { 0, 1, 0, 0 };
	const struct run constant = run_of(one_for_ever),
			 half = run_of(one_for_half_of_the_time);

	(void)state;
	assert_true(is_once(&constant, alike));
	assert_false(is_once(&constant, main_apart));
	assert_false(is_once(&half, alike));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_that_differ_are_few_draws),
		cmocka_unit_test(threads_that_change_together_or_never_add_nothing),
		cmocka_unit_test(threads_of_other_work_are_not_compared),
		cmocka_unit_test(threads_in_their_only_phase_came_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
