/*
 * Comparisons of profiles made by hand: a sample is a millisecond.
 */
#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "made.h"
#include "profile/compare.h"

enum { RUNS = 5, MS = 1000000 };

static const int noise[RUNS] = { 3, -2, 0, 4, -5 };

struct work {
	const char *stack;
	int ms;
};

struct compared_sides {
	struct made made[2][RUNS];
	struct comparison comparison;
};

/* Each run has the works' time, some milliseconds more or less. */
static void sides_init(struct compared_sides *sides, const struct work *before,
		       const struct work *after, size_t runs)
{
	struct profile *profiles[2][RUNS];

	for (int side = 0; side < 2; side++) {
		const struct work *works = side ? after : before;

		for (size_t run = 0; run < runs; run++) {
			made_init(&sides->made[side][run]);
			profiles[side][run] = sides->made[side][run].profile;
			for (size_t i = 0; works[i].stack; i++) {
				const int ms =
					works[i].ms + noise[(run + i + (size_t)side) % RUNS];

				made_add(&sides->made[side][run], works[i].stack,
					 (uint64_t)ms * MS, (uint64_t)ms);
			}
		}
	}
	comparison_make(&(struct compare_terms){ .profiles = { profiles[0], profiles[1] },
						 .counts = { runs, runs },
						 .by = GROUP_BY_FUNCTION,
						 .margin = 0.05 },
			&sides->comparison);
	for (int side = 0; side < 2; side++)
		for (size_t run = runs; run < RUNS; run++)
			sides->made[side][run] = (struct made){ 0 };
}

static void sides_done(struct compared_sides *sides)
{
	comparison_done(&sides->comparison);
	for (int side = 0; side < 2; side++)
		for (size_t run = 0; run < RUNS && sides->made[side][run].profile; run++)
			made_done(&sides->made[side][run]);
}

static const struct compared *row_named(const struct comparison *comparison, const char *name)
{
	for (size_t i = 0; i < comparison->count; i++)
		if (strcmp(comparison->rows[i].name, name) == 0)
			return &comparison->rows[i];
	fail_msg("there is no %s", name);
	return NULL;
}

static void assert_verdict(const struct comparison *comparison, const char *name,
			   enum verdict verdict)
{
	assert_string_equal(verdict_name(row_named(comparison, name)->self.verdict),
			    verdict_name(verdict));
}

static const struct work before[] = {
	{ "main;a", 1000 }, { "main;b", 500 }, { "main;c", 300 }, { "main;d", 20 }, { 0 }
};

static void what_became_slower_is_found_and_only_that(void **state)
{
	static const struct work after[] = { { "main;a", 1000 },
					     { "main;b", 560 },
					     { "main;c", 240 },
					     { "main;d", 18 },
					     { 0 } };
	struct compared_sides sides;

	(void)state;
	sides_init(&sides, before, after, RUNS);
	assert_true(sides.comparison.is_over_runs);
	assert_verdict(&sides.comparison, "b", VERDICT_SLOWER);
	assert_verdict(&sides.comparison, "c", VERDICT_FASTER);
	assert_verdict(&sides.comparison, "a", VERDICT_UNCHANGED);
	assert_verdict(&sides.comparison, "d", VERDICT_CANNOT_TELL);
	assert_true(fabs(change_share(&row_named(&sides.comparison, "b")->self) - 0.12) < 0.01);
	assert_true(sides.comparison.least_seen_ns > 0);
	sides_done(&sides);
}

static void the_same_program_has_no_verdict_but_unchanged(void **state)
{
	struct compared_sides sides;

	(void)state;
	sides_init(&sides, before, before, RUNS);
	assert_int_equal(sides.comparison.counts[VERDICT_SLOWER], 0);
	assert_int_equal(sides.comparison.counts[VERDICT_FASTER], 0);
	assert_int_equal(sides.comparison.counts[VERDICT_NEW], 0);
	assert_int_equal(sides.comparison.counts[VERDICT_GONE], 0);
	assert_int_equal(sides.comparison.whole.verdict, VERDICT_UNCHANGED);
	sides_done(&sides);
}

/* 500 and 520 samples: 1.96 √1020 is 63. */
static void one_run_a_side_is_judged_by_its_samples(void **state)
{
	static const struct work after[] = { { "main;a", 1000 },
					     { "main;b", 520 },
					     { "main;c", 600 },
					     { "main;d", 20 },
					     { 0 } };
	struct compared_sides sides;

	(void)state;
	sides_init(&sides, before, after, 1);
	assert_false(sides.comparison.is_over_runs);
	assert_verdict(&sides.comparison, "b", VERDICT_CANNOT_TELL);
	assert_verdict(&sides.comparison, "c", VERDICT_SLOWER);
	sides_done(&sides);
}

static void what_is_new_and_what_is_gone(void **state)
{
	static const struct work after[] = {
		{ "main;a", 1000 }, { "main;b", 500 }, { "main;a;e", 300 }, { 0 }
	};
	struct compared_sides sides;

	(void)state;
	sides_init(&sides, before, after, RUNS);
	assert_verdict(&sides.comparison, "c", VERDICT_GONE);
	assert_verdict(&sides.comparison, "e", VERDICT_NEW);
	assert_verdict(&sides.comparison, "d", VERDICT_GONE);
	sides_done(&sides);
}

static void a_function_under_another_name_is_known_by_its_caller(void **state)
{
	static const struct work renamed[] = { { "main;a", 1000 },
					       { "main;b", 500 },
					       { "main;c2", 301 },
					       { "main;d", 20 },
					       { 0 } };
	struct compared_sides sides;

	(void)state;
	sides_init(&sides, before, renamed, RUNS);
	assert_string_equal(row_named(&sides.comparison, "c2")->former_name, "c");
	assert_verdict(&sides.comparison, "c2", VERDICT_UNCHANGED);
	sides_done(&sides);
}

static void a_function_in_another_file_is_known_by_its_name(void **state)
{
	static const struct work moved[] = { { "main;a", 1000 },
					     { "main;b", 500 },
					     { "main;lib.so!c", 300 },
					     { "main;d", 20 },
					     { 0 } };
	struct compared_sides sides;

	(void)state;
	sides_init(&sides, before, moved, RUNS);
	assert_verdict(&sides.comparison, "c", VERDICT_UNCHANGED);
	sides_done(&sides);
}

enum { FUNCTIONS = 40, FUNCTION_MS = 100 };

/* f0 becomes slower; runs of both sides are as many per cent off the usual speed. */
static void sides_init_of_many(struct compared_sides *sides, int slower_percent)
{
	static const int speeds[2][RUNS] = { { 90, 110, 97, 103, 112 },
					     { 108, 93, 99, 115, 89 } };
	struct profile *profiles[2][RUNS];

	for (int side = 0; side < 2; side++)
		for (int run = 0; run < RUNS; run++) {
			struct made *made = &sides->made[side][run];

			made_init(made);
			profiles[side][run] = made->profile;
			for (int i = 0; i < FUNCTIONS; i++) {
				char stack[16];
				const int percent =
					i == 0 && side == 1 ? 100 + slower_percent : 100;
				const int ms =
					FUNCTION_MS * speeds[side][run] / 100 * percent / 100 +
					noise[(run + 2 * i + side) % RUNS];

				snprintf(stack, sizeof stack, "main;f%d", i);
				made_add(made, stack, (uint64_t)ms * MS, (uint64_t)ms);
			}
		}
	comparison_make(&(struct compare_terms){ .profiles = { profiles[0], profiles[1] },
						 .counts = { RUNS, RUNS },
						 .by = GROUP_BY_FUNCTION,
						 .margin = 0.05 },
			&sides->comparison);
}

static void how_fast_the_machine_was_is_taken_out(void **state)
{
	struct compared_sides sides;

	(void)state;
	sides_init_of_many(&sides, 20);
	const struct comparison *comparison = &sides.comparison;

	assert_int_equal(comparison->whole.verdict, VERDICT_CANNOT_TELL);
	assert_true(comparison->common.is_taken_out);
	assert_true(comparison->common.noise > 0.05 && comparison->common.noise < 0.15);
	assert_verdict(comparison, "f0", VERDICT_SLOWER);
	assert_int_equal(comparison->counts[VERDICT_SLOWER], 1);
	assert_int_equal(comparison->counts[VERDICT_FASTER], 0);
	/* 20 % at the mean speed: the runs after were 2 % slower, which is not the function's. */
	assert_true(fabs(change_share(&row_named(comparison, "f0")->self) - 0.2) < 0.05);
	sides_done(&sides);
}

static void only_speed_that_differs_changes_no_function(void **state)
{
	struct compared_sides sides;

	(void)state;
	sides_init_of_many(&sides, 0);
	assert_true(sides.comparison.common.is_taken_out);
	assert_int_equal(sides.comparison.counts[VERDICT_SLOWER], 0);
	assert_int_equal(sides.comparison.counts[VERDICT_FASTER], 0);
	sides_done(&sides);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_became_slower_is_found_and_only_that),
		cmocka_unit_test(the_same_program_has_no_verdict_but_unchanged),
		cmocka_unit_test(one_run_a_side_is_judged_by_its_samples),
		cmocka_unit_test(what_is_new_and_what_is_gone),
		cmocka_unit_test(a_function_under_another_name_is_known_by_its_caller),
		cmocka_unit_test(a_function_in_another_file_is_known_by_its_name),
		cmocka_unit_test(how_fast_the_machine_was_is_taken_out),
		cmocka_unit_test(only_speed_that_differs_changes_no_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
