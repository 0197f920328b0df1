/* When a trace passes its budget, by figures alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h expects those before it. */
#include <cmocka.h>

#include "collect/calls/limit.h"

#define TEN_PERCENT 0.1

static void calls_are_left_out_past_the_budget(void **state)
{
	(void)state;
	assert_false(trace_limit_is_passed(TEN_PERCENT, 0, 0, false));
	assert_false(trace_limit_is_passed(TEN_PERCENT, 99, 1000, false));
	assert_true(trace_limit_is_passed(TEN_PERCENT, 101, 1000, false));
}

static void they_are_until_there_is_room(void **state)
{
	(void)state;
	assert_true(trace_limit_is_passed(TEN_PERCENT, 101, 1200, true));
	assert_false(trace_limit_is_passed(TEN_PERCENT, 101, 1300, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_left_out_past_the_budget),
		cmocka_unit_test(they_are_until_there_is_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
