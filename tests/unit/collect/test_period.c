#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/perf_events.h"

static bool is_prime(uint64_t n)
{
	for (uint64_t divisor = 2; divisor * divisor <= n; divisor++) {
		if (n % divisor == 0)
			return false;
	}
	return n > 1;
}

static const uint32_t rates[] = { 1, 99, 100, 250, 997, 1000, 10000, 20000, 50000 };

static void a_period_is_prime_and_within_one_percent(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
		for (uint32_t serial = 0; serial < 40; serial++) {
			const uint64_t round = 1000000000ULL / rates[i];
			const uint64_t period = perf_choose_period(rates[i], serial);

			assert_true(is_prime(period));
			assert_in_range(period, round - round / 100, round);
		}
	}
}

/* A program in step with the round period passes by all its phases within 1,000 samples. */
static void a_period_is_out_of_step_with_the_round_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
		const uint64_t round = 1000000000ULL / rates[i];

		assert_true((round - perf_choose_period(rates[i], 0)) * 1000 >= round);
	}
}

static void neighbours_have_different_periods(void **state)
{
	(void)state;
	for (uint32_t serial = 0; serial < 19; serial++)
		assert_int_not_equal(perf_choose_period(1000, serial),
				     perf_choose_period(1000, serial + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_period_is_prime_and_within_one_percent),
		cmocka_unit_test(a_period_is_out_of_step_with_the_round_one),
		cmocka_unit_test(neighbours_have_different_periods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
