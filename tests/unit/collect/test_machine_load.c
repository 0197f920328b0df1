#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/system/machine_load.h"

static void the_first_line_is_of_all_processors(void **state)
{
	struct machine_load load;

	(void)state;
	assert_true(machine_load_parse("cpu  10 2 30 400 5 6 7 8 9 1\ncpu0 1 2 3 4 5 6 7 8\n",
				       10, &load));
	assert_int_equal(load.all_ns, 4680);
	assert_int_equal(load.idle_ns, 4050);
}

static void another_text_is_refused(void **state)
{
	static const char *const texts[] = { "", "cpu", "cpu ", "cpu  1 2 3 4 5 6 7\ncpu0 x",
					     "intr 1 2 3 4 5 6 7 8 9" };
	struct machine_load load;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		assert_false(machine_load_parse(texts[i], 10, &load));
		assert_int_equal(load.all_ns, 0);
	}
}

static void this_machine_has_a_load(void **state)
{
	struct machine_load load;

	(void)state;
	assert_true(machine_load_read(&load));
	assert_true(load.all_ns > 0 && load.idle_ns <= load.all_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_line_is_of_all_processors),
		cmocka_unit_test(another_text_is_refused),
		cmocka_unit_test(this_machine_has_a_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
