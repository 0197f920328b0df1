#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "doctor/checks.h"
#include "doctor/trial.h"

static const struct trial_options options = { .rate_hz = 1000, .seconds = 3 };

/* Shares of a sixth, a third and a half. */
static struct trial healthy(void)
{
	return (struct trial){
		.truth = { { 200000000, 400000000, 600000000 } },
		.sampled_ns = { 201000000, 399000000, 600000000 },
		.samples = { 201, 399, 600 },
		.due = 1200,
		.cpu_ns = 1210000000,
		.unexplained_ns = 100000,
		.has_unexplained = true,
		.cost_ns = 20000000,
	};
}

static const struct check *find(const struct checks *checks, const char *name)
{
	for (size_t i = 0; i < checks->count; i++) {
		if (strcmp(checks->rows[i].name, name) == 0)
			return &checks->rows[i];
	}
	fail_msg("no check is called %s", name);
	return NULL;
}

static void a_healthy_trial_is_ok(void **state)
{
	const struct trial trial = healthy();
	struct checks checks = { 0 };
	(void)state;

	trial_check(&options, &trial, &checks);
	assert_false(checks_have_wrong(&checks));
	assert_int_equal(find(&checks, "shares")->verdict, CHECK_OK);
	assert_int_equal(find(&checks, "samples")->verdict, CHECK_OK);
	assert_int_equal(find(&checks, "account")->verdict, CHECK_OK);
	assert_int_equal(find(&checks, "cost")->verdict, CHECK_LIMITED);
	checks_done(&checks);
}

/* Ten points in 1,200 samples are seven standard errors. */
static void shares_that_are_off_are_wrong(void **state)
{
	struct trial trial = healthy();
	struct checks checks = { 0 };
	(void)state;

	trial.sampled_ns[1] -= 120000000;
	trial.sampled_ns[2] += 120000000;
	trial_check(&options, &trial, &checks);
	assert_true(checks_have_wrong(&checks));
	assert_int_equal(find(&checks, "shares")->verdict, CHECK_WRONG);
	assert_non_null(find(&checks, "shares")->remedy);
	checks_done(&checks);
}

/* Six points in 300 samples are two standard errors: not wrong, and not shown to be right. */
static void shares_of_few_samples_are_not_called_right(void **state)
{
	struct trial trial = healthy();
	struct checks checks = { 0 };
	(void)state;

	for (unsigned i = 0; i < WORK_FUNCTIONS; i++)
		trial.samples[i] /= 4;
	trial.sampled_ns[1] -= 72000000;
	trial.sampled_ns[2] += 72000000;
	trial_check(&options, &trial, &checks);
	assert_int_equal(find(&checks, "shares")->verdict, CHECK_LIMITED);
	assert_non_null(find(&checks, "shares")->remedy);
	checks_done(&checks);
}

static void no_sample_at_all_is_wrong(void **state)
{
	struct trial trial = healthy();
	struct checks checks = { 0 };
	(void)state;

	for (unsigned i = 0; i < WORK_FUNCTIONS; i++)
		trial.sampled_ns[i] = trial.samples[i] = 0;
	trial_check(&options, &trial, &checks);
	assert_int_equal(find(&checks, "shares")->verdict, CHECK_WRONG);
	assert_int_equal(find(&checks, "samples")->verdict, CHECK_LIMITED);
	checks_done(&checks);
}

static void samples_at_the_tick_have_their_remedy(void **state)
{
	struct trial trial = healthy();
	struct checks checks = { 0 };
	(void)state;

	trial.due = 4800;
	trial.is_timer = true;
	trial.unexplained_ns = -100000000;
	trial_check(&options, &trial, &checks);
	assert_int_equal(find(&checks, "samples")->verdict, CHECK_LIMITED);
	assert_non_null(strstr(find(&checks, "samples")->remedy, "CONFIG_HZ"));
	assert_int_equal(find(&checks, "account")->verdict, CHECK_LIMITED);
	checks_done(&checks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_healthy_trial_is_ok),
		cmocka_unit_test(shares_that_are_off_are_wrong),
		cmocka_unit_test(shares_of_few_samples_are_not_called_right),
		cmocka_unit_test(no_sample_at_all_is_wrong),
		cmocka_unit_test(samples_at_the_tick_have_their_remedy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
