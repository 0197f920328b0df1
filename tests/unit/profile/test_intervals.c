/*
 * How sure times are, on timelines made by hand: a thousand samples, one a millisecond.
 */
#include "cmocka_all.h"

#include "made.h"
#include "profile/totals.h"

enum { SAMPLES = 6400 };

struct timeline {
	struct made made;
	struct totals totals;
};

/* is_in says which samples, in order of time, are of f; the rest is of g. */
static void timeline_init(struct timeline *timeline, bool (*is_in)(unsigned int sample))
{
	struct stack_id stacks[2];

	made_init(&timeline->made);
	for (unsigned int i = 0; i < SAMPLES; i++)
		made_add(&timeline->made, is_in(i) ? "main;f" : "main;g", 1000000, 1);
	for (size_t i = 0; i < 2; i++) {
		const struct weight *weight = profile_get_weight(timeline->made.profile, i);
		const struct frame *leaf = profile_get_frame(
			timeline->made.profile,
			profile_get_stack(timeline->made.profile, weight->stack)->frame);
		const bool is_f = leaf->function.n == made_function(&timeline->made, "f").n;

		stacks[is_f ? 1 : 0] = weight->stack;
	}
	const struct weight *any = profile_get_weight(timeline->made.profile, 0);
	const struct thread_id thread = any->thread;

	for (unsigned int i = 0; i < SAMPLES; i++)
		profile_add_step(timeline->made.profile,
				 &(struct weight){ .stack = stacks[is_in(i)],
						   .thread = thread,
						   .ns = 1000000 },
				 i * 1000000);
	profile_close_sequence(timeline->made.profile);
	totals_by_function(timeline->made.profile, NULL, &timeline->totals);
}

static void timeline_done(struct timeline *timeline)
{
	totals_done(&timeline->totals);
	made_done(&timeline->made);
}

/* Half the width of f's interval, in samples. */
static double off_of_f(bool (*is_in)(unsigned int sample))
{
	struct timeline timeline;

	timeline_init(&timeline, is_in);
	const struct cost *cost =
		&timeline.totals.rows[made_function(&timeline.made, "f").n - 1];
	const struct interval interval = cost->intervals.self;

	assert_true(cost->has_intervals);
	assert_true(interval.low_ns <= cost->self_ns && cost->self_ns <= interval.high_ns);
	timeline_done(&timeline);
	return (double)(interval.high_ns - interval.low_ns) / 2e6;
}

static unsigned int mixed(unsigned int n)
{
	n = (n ^ 61) ^ (n >> 16);
	n *= 9;
	n ^= n >> 4;
	n *= 0x27d4eb2d;
	return n ^ (n >> 15);
}

static bool by_chance(unsigned int sample)
{
	return mixed(sample) % 2;
}

/* The same, but each says what the fifteen behind it say. */
static bool repeated(unsigned int sample)
{
	return mixed(sample / 16) % 2;
}

static bool regular(unsigned int sample)
{
	return sample % 20 < 10;
}

/* A second of start-up. */
static bool first_of_all(unsigned int sample)
{
	return sample < 1000;
}

/* Of independent samples: 1.96 √(n p q) = 78, and what 24 degrees of freedom are uncertain by. */
static void independent_samples_have_the_binomial_interval(void **state)
{
	const double off = off_of_f(by_chance);

	(void)state;
	assert_true(off > 50 && off < 110);
}

static void samples_that_repeat_each_other_say_less(void **state)
{
	const double off = off_of_f(repeated);

	(void)state;
	assert_true(off > 3 * 78 && off < 5.5 * 78);
}

static void regular_phases_say_more(void **state)
{
	const double off = off_of_f(regular);

	(void)state;
	assert_true(off > 10 && off < 30);
}

static void what_ran_once_is_known_well(void **state)
{
	(void)state;
	assert_true(off_of_f(first_of_all) < 78);
}

static void what_is_everything_is_certain(void **state)
{
	struct timeline timeline;

	(void)state;
	timeline_init(&timeline, by_chance);
	const struct cost *cost =
		&timeline.totals.rows[made_function(&timeline.made, "main").n - 1];

	assert_int_equal(cost->intervals.total.high_ns, SAMPLES * 1000000UL);
	/* Its own time was never met: less than the chance of missing it allows. */
	assert_int_equal(cost->intervals.self.low_ns, 0);
	assert_true(cost->intervals.self.high_ns > 2000000 &&
		    cost->intervals.self.high_ns < 6000000);
	timeline_done(&timeline);
}

static void time_without_samples_is_exact(void **state)
{
	struct made made;
	struct totals totals;

	(void)state;
	made_init(&made);
	made_add(&made, "main;f", 5000000, 5);
	made_add(&made, "main;exit", 3000000, 0);
	totals_by_function(made.profile, NULL, &totals);
	const struct intervals *exact =
		&totals.rows[made_function(&made, "exit").n - 1].intervals;

	assert_int_equal(exact->self.low_ns, 3000000);
	assert_int_equal(exact->self.high_ns, 3000000);
	totals_done(&totals);
	made_done(&made);
}

/* One wait of half a second among as much work, at 100 Hz: it may be off by some ticks, not by half. */
static void the_length_of_a_wait_is_known(void **state)
{
	struct made made;
	struct totals totals;

	(void)state;
	made_init(&made);
	profile_info(made.profile)->rate_hz = 100;
	made_add(&made, "main;f", 500000000, 50);
	profile_add_weight(made.profile,
			   &(struct weight){ .stack = made_stack(&made, "main;nap"),
					     .thread = made.thread,
					     .state = THREAD_STATE_SLEEP,
					     .ns = 500000000,
					     .samples = 1 });
	totals_by_function(made.profile, NULL, &totals);
	const struct intervals *nap = &totals.rows[made_function(&made, "nap").n - 1].intervals;

	assert_true(nap->self.low_ns > 480000000 && nap->self.low_ns <= 500000000);
	assert_true(nap->self.high_ns >= 500000000 && nap->self.high_ns < 600000000);
	totals_done(&totals);
	made_done(&made);
}

/* What f's interval is if a main thread and three workers, a second each, are in f as is_in says. */
static struct interval interval_in_threads(const char *others,
					   bool (*is_in)(int thread, unsigned int sample))
{
	struct made made;
	struct totals totals;

	made_init(&made);
	for (int thread = 0; thread < 4; thread++) {
		const char *names[] = { "prog", "worker-1", others, others };

		if (thread > 0)
			made_begin_thread(&made, 100 + thread, names[thread]);
		for (unsigned int i = 0; i < 1000; i++) {
			const struct stack_id stack =
				made_stack(&made, is_in(thread, i) ? "main;f" : "main;g");
			const struct weight weight = { .stack = stack,
						       .thread = made.thread,
						       .ns = 1000000,
						       .samples = 1 };

			profile_add_weight(made.profile, &weight);
			profile_add_step(made.profile, &weight, i * 1000000);
		}
	}
	profile_close_sequence(made.profile);
	totals_by_function(made.profile, NULL, &totals);
	const struct interval interval =
		totals.rows[made_function(&made, "f").n - 1].intervals.self;

	totals_done(&totals);
	made_done(&made);
	return interval;
}

/* Two workers, one behind the other: all in all it is always one of four. */
static bool one_at_a_time(int thread, unsigned int sample)
{
	return thread == 1 ? sample < 500 : thread == 3 && sample >= 500;
}

static bool one_worker(int thread, unsigned int sample)
{
	(void)sample;
	return thread == 1;
}

static void phases_of_threads_are_seen_one_by_one(void **state)
{
	const struct interval turns = interval_in_threads("worker-2", one_at_a_time);

	(void)state;
	assert_int_equal(turns.phases, 2);
	assert_true(turns.high_ns - turns.low_ns > 2000000000);
	/* A worker that differs from others of its kind may be in its first phase. */
	assert_int_equal(interval_in_threads("worker-2", one_worker).phases, 1);
	assert_int_equal(interval_in_threads("idler-2", one_worker).phases, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(independent_samples_have_the_binomial_interval),
		cmocka_unit_test(samples_that_repeat_each_other_say_less),
		cmocka_unit_test(regular_phases_say_more),
		cmocka_unit_test(what_ran_once_is_known_well),
		cmocka_unit_test(what_is_everything_is_certain),
		cmocka_unit_test(time_without_samples_is_exact),
		cmocka_unit_test(the_length_of_a_wait_is_known),
		cmocka_unit_test(phases_of_threads_are_seen_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
