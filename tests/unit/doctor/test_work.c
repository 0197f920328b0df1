#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "doctor/work.h"

static void each_function_takes_time(void **state)
{
	struct work_times times;
	(void)state;

	work_run(12, &times);
	for (unsigned i = 0; i < WORK_FUNCTIONS; i++)
		assert_true(times.ns[i] > 0);
}

static void figures_come_back(void **state)
{
	const struct work_times times = { { 1, UINT64_MAX, 3 } };
	struct work_times back;
	char line[128];
	(void)state;

	work_format(&times, line, sizeof line);
	assert_true(work_parse(line, &back));
	assert_memory_equal(&back, &times, sizeof times);
}

static void other_lines_are_refused(void **state)
{
	struct work_times times;
	(void)state;

	assert_false(work_parse("", &times));
	assert_false(work_parse("1 2", &times));
	assert_false(work_parse("fathom: cannot", &times));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_function_takes_time),
		cmocka_unit_test(figures_come_back),
		cmocka_unit_test(other_lines_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
