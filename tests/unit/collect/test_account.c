/* What of an account is taken for switches that no counter counts. */
#include "collect/processes/account.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void what_births_may_explain_is_bounded_by_their_number(void **state)
{
	static const struct {
		uint64_t booked_ns, counted_ns, births, uncounted_ns;
	} cases[] = {
		{ 1000000, 1000000, 100, 0 },   { 1000000, 1200000, 100, 0 },
		{ 1200000, 1000000, 0, 0 },     { 1200000, 1000000, 100, 200000 },
		{ 9000000, 1000000, 1, 32000 }, { UINT64_MAX, 0, 2, 64000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(account_uncounted_births(cases[i].booked_ns,
							  cases[i].counted_ns, cases[i].births),
				 cases[i].uncounted_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_births_may_explain_is_bounded_by_their_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
