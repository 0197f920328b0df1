/* The steps of a process's life reach each mechanism that has them, in the order of the rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/core/mechanism.h"

static char calls[16];

static void note(char call)
{
	calls[strlen(calls)] = call;
}

static void first_begin(struct ring_header *ring, bool is_first)
{
	assert_ptr_equal(ring, calls);
	assert_true(is_first);
	note('1');
}

static void second_forget(void)
{
	note('2');
}

static void third_begin(struct ring_header *ring, bool is_first)
{
	(void)ring;
	(void)is_first;
	note('3');
}

static const struct mechanism first = { .begin = first_begin };
static const struct mechanism second = { .forget = second_forget };
static const struct mechanism third = { .begin = third_begin };
const struct mechanism *const mechanisms[] = { &first, &second, &third, NULL };

static void a_step_is_called_in_the_order_of_the_rows(void **state)
{
	(void)state;
	memset(calls, 0, sizeof calls);
	MECHANISMS_DO(begin, ((struct ring_header *)calls, true));
	MECHANISMS_DO(forget, ());
	assert_string_equal(calls, "132");
}

static void a_step_that_no_row_has_does_nothing(void **state)
{
	(void)state;
	memset(calls, 0, sizeof calls);
	MECHANISMS_DO(pause, (true));
	assert_string_equal(calls, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_is_called_in_the_order_of_the_rows),
		cmocka_unit_test(a_step_that_no_row_has_does_nothing),
	};

	return cmocka_run_group_tests_name("mechanism", tests, NULL, NULL);
}
