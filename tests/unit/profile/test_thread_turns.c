/*
 * What threads say of a row's variance one after another: four of them, a hundred samples in each of
 * their slots of time.
 */
#include "cmocka_all.h"

#include <math.h>

#include "profile/change_points.h"
#include "profile/sequence.h"
#include "profile/statistics.h"
#include "profile/thread_turns.h"

enum { THREADS = 4, EACH = SERIES_SLOTS / THREADS, IN_SLOT = 100 };

static const uint32_t alike[THREADS] = { 0 }, apart[THREADS] = { 0, 1, 2, 3 };

struct run {
	float part[SERIES_SLOTS], whole[SERIES_SLOTS];
	float part_in_turn[SERIES_SLOTS], whole_in_turn[SERIES_SLOTS];
};

static void add(struct run *run, size_t thread, size_t slot, float part)
{
	const size_t turn = thread * EACH + slot / THREADS;

	run->part[slot] += part;
	run->whole[slot] += IN_SLOT;
	run->part_in_turn[turn] += part;
	run->whole_in_turn[turn] += IN_SLOT;
}

/* share says how much of a slot a thread is in the row. */
static struct run run_of(float (*share)(size_t thread, size_t slot))
{
	struct run run = { .part = { 0 } };

	for (size_t thread = 0; thread < THREADS; thread++)
		for (size_t slot = 0; slot < SERIES_SLOTS; slot++)
			add(&run, thread, slot, IN_SLOT * share(thread, slot));
	return run;
}

static struct autocorrelation found_in(const struct run *run, const uint32_t groups[THREADS],
				       size_t threads)
{
	struct row_series in_time = {
		.part = run->part, .whole = run->whole, .count = SERIES_SLOTS, .weight = 1
	};

	return thread_turns_autocorrelation(&in_time, &(struct thread_turns){
							      .part = run->part_in_turn,
							      .whole = run->whole_in_turn,
							      .groups = groups,
							      .threads = threads,
							      .turn_slots = EACH,
						      });
}

static float one_at_a_time(size_t thread, size_t slot)
{
	return slot * 2 / SERIES_SLOTS == thread / 2 && thread % 2 == 0 ? 1 : 0;
}

static float one_for_ever(size_t thread, size_t slot)
{
	(void)slot;
	return thread == 1 ? 1 : 0;
}

static float each_its_share(size_t thread, size_t slot)
{
	return 0.2F + 0.2F * (float)thread + (slot % 2 ? 0.05F : -0.05F);
}

static float all_for_half_of_the_time(size_t thread, size_t slot)
{
	(void)thread;
	return slot < SERIES_SLOTS / 2 ? 1 : 0;
}

static float one_for_a_while(size_t thread, size_t slot)
{
	return thread == 2 && slot >= 20 && slot < 44 ? 1 : 0;
}

/* One goes when the other comes: in sum it looks as if nothing ever changed. */
static void phases_that_hide_each_other_are_seen(void **state)
{
	const struct run run = run_of(one_at_a_time);

	(void)state;
	assert_true(found_in(&run, alike, 1).inflation <= 1);
	assert_int_equal(found_in(&run, alike, THREADS).phases, 2);
	assert_true(found_in(&run, alike, THREADS).inflation > 100);
	/* Whatever work they do, for each changes by itself. */
	assert_int_equal(found_in(&run, apart, THREADS).phases, 2);
}

static void one_stretch_of_one_thread_is_once(void **state)
{
	const struct run run = run_of(one_for_a_while);

	(void)state;
	assert_int_equal(found_in(&run, alike, THREADS).phases, 1);
}

static void threads_that_differ_for_ever_have_one_stretch_each(void **state)
{
	const struct run run = run_of(one_for_ever);

	(void)state;
	assert_int_equal(found_in(&run, alike, THREADS).phases, 1);
	/* They may do different work, which goes on. */
	assert_int_equal(found_in(&run, apart, THREADS).phases, 0);
}

static void steady_threads_and_those_that_change_together_add_nothing(void **state)
{
	const struct run steady = run_of(each_its_share),
			 all = run_of(all_for_half_of_the_time);

	(void)state;
	assert_true(found_in(&steady, alike, THREADS).inflation ==
		    found_in(&steady, alike, 1).inflation);
	assert_int_equal(found_in(&all, alike, THREADS).phases, 1);
}

static uint64_t seed;

static double uniform(void)
{
	seed = seed * 6364136223846793005U + 1442695040888963407U;
	return (double)(seed >> 11) / 9007199254740992.0;
}

/* Random phases of 0.3 and 0.7 of so many slots on average, from before the recording on. */
static struct run random_run(double phase)
{
	struct run run = { .part = { 0 } };

	for (size_t thread = 0; thread < THREADS; thread++) {
		bool is_in = uniform() < 0.3;
		double left = -log(1 - uniform()) * phase * (is_in ? 0.3 : 0.7);

		for (size_t at = 0; at < SERIES_SLOTS; at++) {
			double part = 0, from = 0;

			for (; from + left < 1; is_in = !is_in) {
				part += is_in ? left : 0;
				from += left;
				left = -log(1 - uniform()) * phase * (is_in ? 0.7 : 0.3);
			}
			part += is_in ? 1 - from : 0;
			left -= 1 - from;
			add(&run, thread, at, (float)(IN_SLOT * part));
		}
	}
	return run;
}

/* In threads as short as a phase 80 to 84 % did as long as only sums of all threads were looked at. */
static void intervals_of_threads_as_short_as_a_phase_hold(void **state)
{
	unsigned int count = 0, held = 0;

	(void)state;
	seed = 20;
	for (int i = 0; i < 2000; i++) {
		const struct run run = random_run(SERIES_SLOTS);
		double hits = 0;

		for (size_t slot = 0; slot < SERIES_SLOTS; slot++)
			hits += (double)run.part[slot];
		const double all = IN_SLOT * SERIES_SLOTS * THREADS;
		const struct autocorrelation found = found_in(&run, alike, THREADS);
		const struct range range =
			statistics_share(hits / found.inflation, all / found.inflation);

		if (found.phases == 1)
			continue;
		count++;
		held += range.low <= 0.3 && 0.3 <= range.high;
	}
	assert_true(count > 1000);
	if (held < 0.93 * count)
		fail_msg("%u of %u", held, count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases_that_hide_each_other_are_seen),
		cmocka_unit_test(one_stretch_of_one_thread_is_once),
		cmocka_unit_test(threads_that_differ_for_ever_have_one_stretch_each),
		cmocka_unit_test(steady_threads_and_those_that_change_together_add_nothing),
		cmocka_unit_test(intervals_of_threads_as_short_as_a_phase_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
