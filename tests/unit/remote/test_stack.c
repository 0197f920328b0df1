#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "remote/stack.h"

#define A_DAY 86400000000000ULL

static void few_frames_that_come_too_late_are_added(void **state)
{
	struct remote_stack stack = { .until_ns = stack_clock_ns() + A_DAY };
	const struct stack_frame frame = { .kind = STACK_NATIVE };
	(void)state;

	assert_true(stack_push(&stack, &frame));
	stack.until_ns = 1;
	while (stack_push(&stack, &frame))
		assert_true(stack.count <= STACK_FRAMES_A_LOOK);
	assert_true(stack.is_full);
	stack_clear(&stack);
	assert_false(stack_push(&stack, &frame));
	stack_done(&stack);
}

static void one_more_than_there_is_room_for_is_left_out(void **state)
{
	struct remote_stack stack = { 0 };
	const struct stack_frame frame = { .kind = STACK_NATIVE };
	(void)state;

	for (uint32_t i = 0; i < STACK_FRAMES_MAX; i++)
		assert_true(stack_push(&stack, &frame));
	assert_false(stack.is_full);
	assert_false(stack_push(&stack, &frame));
	assert_true(stack.is_full);
	stack_clear(&stack);
	assert_true(stack_push(&stack, &frame));
	stack_done(&stack);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_frames_that_come_too_late_are_added),
		cmocka_unit_test(one_more_than_there_is_room_for_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
