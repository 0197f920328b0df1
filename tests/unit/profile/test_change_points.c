/*
 * Where shares change, on series made by a rule or by chance (of a fixed seed), and what the steps say
 * of the variance of programs for which it is known.
 */
#include "cmocka_all.h"

#include <math.h>

#include "profile/change_points.h"
#include "profile/sequence.h"

enum { SAMPLES = 2048, IN_SLOT = SAMPLES / SERIES_SLOTS, MANY = 400 };

static uint64_t seed;

static double uniform(void)
{
	seed = seed * 6364136223846793005U + 1442695040888963407U;
	return (double)(seed >> 11) / 9007199254740992.0;
}

struct series {
	float part[SERIES_SLOTS], whole[SERIES_SLOTS];
};

static void add(struct series *series, size_t sample, bool is_in)
{
	series->whole[sample / IN_SLOT] += 1;
	series->part[sample / IN_SLOT] += is_in ? 1 : 0;
}

static struct change_points found_in(const struct series *series)
{
	return change_points_of(series->part, series->whole, SERIES_SLOTS, 1);
}

static struct series series_of(bool (*is_in)(size_t sample))
{
	struct series series = { .part = { 0 } };

	for (size_t i = 0; i < SAMPLES; i++)
		add(&series, i, is_in(i));
	return series;
}

static bool in_two_stretches(size_t sample)
{
	return sample / 512 % 2 == 1;
}

/* Half of its time, but for a pause of a tenth of it. */
static bool with_a_pause(size_t sample)
{
	return (sample < 900 || sample >= 1100) && uniform() < 0.5;
}

static bool more_later(size_t sample)
{
	return uniform() < (sample < 1200 ? 0.2 : 0.6);
}

static bool steady(size_t sample)
{
	(void)sample;
	return uniform() < 0.3;
}

static bool regular(size_t sample)
{
	return sample % 7 < 2;
}

static bool rare_in_a_row(size_t sample)
{
	return sample >= 1000 && sample < 1003;
}

static void changes_are_found_where_they_are(void **state)
{
	static const struct {
		const char *name;
		bool (*is_in)(size_t sample);
		size_t changes;
		bool is_certain;
	} rows[] = {
		{ "two stretches", in_two_stretches, 3, true },
		{ "a pause", with_a_pause, 2, true },
		{ "more later", more_later, 1, true },
		{ "steady", steady, 0, false },
		{ "regular", regular, 0, false },
		{ "three samples of two thousand", rare_in_a_row, 0, false },
	};

	(void)state;
	seed = 20;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct series series = series_of(rows[i].is_in);
		const struct change_points found = found_in(&series);

		if (found.count != rows[i].changes || found.is_certain != rows[i].is_certain)
			fail_msg("%s: %zu changes, %d", rows[i].name, found.count,
				 found.is_certain);
		assert_true((found.variance > 0) == (found.count > 0));
	}
}

static void chance_makes_few_and_small_ones(void **state)
{
	unsigned int changed = 0, certain = 0;
	double variance = 0;

	(void)state;
	seed = 21;
	for (int i = 0; i < MANY; i++) {
		const struct series series = series_of(steady);
		const struct change_points found = found_in(&series);

		changed += found.count > 0;
		certain += found.is_certain;
		variance += found.variance / MANY;
	}
	assert_true(changed < MANY / 5);
	assert_int_equal(certain, 0);
	/* Of independent samples it is SAMPLES * 0.3 * 0.7. */
	assert_true(variance < SAMPLES * 0.3 * 0.7 / 2);
}

/* On and off at random in each of some threads, a phase of both lasting so many samples. */
static struct series random_phases(unsigned int threads, double phase)
{
	struct series series = { .part = { 0 } };

	for (unsigned int thread = 0; thread < threads; thread++) {
		bool is_in = uniform() < 0.3;
		double left = 0;

		for (size_t at = 0; at < SAMPLES; at++, left--) {
			while (left < 0) {
				is_in = !is_in;
				left += -log(1 - uniform()) * phase * (is_in ? 0.3 : 0.7);
			}
			add(&series, at, is_in);
		}
	}
	return series;
}

/* That of exponential phases is 2 p^2 q^2 phase / length, of the whole's square, over the threads. */
static void steps_say_how_much_the_time_varies(void **state)
{
	static const unsigned int threads[] = { 1, 4 };

	(void)state;
	seed = 22;
	for (size_t i = 0; i < 2; i++) {
		const double phase = 200, whole = (double)SAMPLES * threads[i];
		const double known =
			2 * pow(0.3 * 0.7 * whole, 2) * phase / SAMPLES / threads[i];
		double variance = 0;

		for (int n = 0; n < MANY; n++) {
			const struct series series = random_phases(threads[i], phase);

			variance += found_in(&series).variance / MANY;
		}
		if (variance < known || variance > 2 * known)
			fail_msg("%u threads: %.2f of it", threads[i], variance / known);
	}
}

static void nothing_is_found_in_nothing(void **state)
{
	const struct series empty = { .part = { 0 } };
	struct series full = series_of(steady);

	(void)state;
	assert_int_equal(found_in(&empty).count, 0);
	for (size_t i = 0; i < SERIES_SLOTS; i++)
		full.part[i] = full.whole[i];
	assert_int_equal(found_in(&full).count, 0);
	assert_int_equal(change_points_of(full.part, full.whole, 0, 1).count, 0);
	assert_int_equal(change_points_of(full.part, full.whole, SERIES_SLOTS, 0).count, 0);
	assert_int_equal(change_points_of(full.part, full.whole, SERIES_SLOTS + 1, 1).count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_are_found_where_they_are),
		cmocka_unit_test(chance_makes_few_and_small_ones),
		cmocka_unit_test(steps_say_how_much_the_time_varies),
		cmocka_unit_test(nothing_is_found_in_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
