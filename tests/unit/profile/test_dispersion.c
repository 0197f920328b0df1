/* The variance of rows as all rows say it, against what it is by construction. */
#include "cmocka_all.h"

#include <math.h>

#include "profile/dispersion.h"

enum { SIDES = 80, FREEDOM = 9 };

#define BETWEEN 0.0004

/* Rows of 5 to 5,000 samples, each with the variance that counting and runs give it, times 1 / off
 * and off in turn. */
static void make_rows(struct row_spread rows[SIDES], double off)
{
	for (int i = 0; i < SIDES; i++) {
		const double samples = 5 * pow(1000, (double)i / (SIDES - 1));

		rows[i] = (struct row_spread){
			.samples = samples,
			.mean = samples * 1e6,
			.freedom = FREEDOM,
			.variance = (1 / samples + BETWEEN) * pow(samples * 1e6, 2) *
				    (i % 2 ? off : 1 / off),
		};
	}
}

static void what_counting_and_runs_add_is_found(void **state)
{
	struct row_spread rows[SIDES];

	(void)state;
	make_rows(rows, 1);
	const struct dispersion found = dispersion_of(rows, SIDES);

	/* A tenth more: variances that all agree are those of a skewed distribution's middle. */
	assert_true(found.sampling > 0.95 && found.sampling < 1.2);
	assert_true(found.between > BETWEEN * 0.8 && found.between < BETWEEN * 1.3);
	assert_true(found.freedom > FREEDOM);
}

static void a_variance_moves_to_what_is_usual(void **state)
{
	struct row_spread rows[SIDES];

	(void)state;
	make_rows(rows, 1);
	const struct dispersion found = dispersion_of(rows, SIDES);
	struct row_spread row = rows[SIDES / 2];
	const double usual = row.variance;

	row.variance = 0;
	dispersion_moderate(&found, &row);
	assert_true(row.variance > usual / 2 && row.variance < usual);
	assert_true(row.freedom > 2 * FREEDOM);
}

/* Variances ten times as large and as small as usual: those of others say little of one. */
static void rows_that_differ_say_less_of_each_other(void **state)
{
	struct row_spread rows[SIDES];

	(void)state;
	make_rows(rows, 10);
	const struct dispersion found = dispersion_of(rows, SIDES);

	assert_true(found.freedom > 0 && found.freedom < FREEDOM / 3.0);
}

static void few_rows_say_nothing_of_each_other(void **state)
{
	struct row_spread rows[SIDES], row;

	(void)state;
	make_rows(rows, 1);
	row = rows[0];
	const struct dispersion found = dispersion_of(rows, SIDES / 4);

	dispersion_moderate(&found, &row);
	assert_true(row.variance == rows[0].variance && row.freedom == FREEDOM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_counting_and_runs_add_is_found),
		cmocka_unit_test(a_variance_moves_to_what_is_usual),
		cmocka_unit_test(rows_that_differ_say_less_of_each_other),
		cmocka_unit_test(few_rows_say_nothing_of_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
