/*
 * The agent's signal stacks, with memory of the test's own.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "abi/types.h"
#include "agent/core/arch.h"

static struct {
	u32 mappings, unmappings;
	bool is_short; /* of memory */
} machine;

static long made_syscall4(long number, long a, long b, long c, long d)
{
	(void)b;
	(void)c;
	(void)d;
	if (number != SYS_munmap)
		return 0;
	machine.unmappings++;
	free((void *)a);
	return 0;
}

static long made_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	(void)c;
	(void)d;
	assert_int_equal(number, SYS_mmap);
	assert_true(a == 0 && e == -1 && f == 0);
	if (machine.is_short)
		return -ENOMEM;
	machine.mappings++;
	return (long)malloc((size_t)b);
}

#define arch_syscall4 made_syscall4
#define arch_syscall6 made_syscall6
#include "agent/signals/stack_pool.c"

static int begin(void **state)
{
	(void)state;
	for (u32 i = 0; i < CHUNKS; i++)
		free(chunks[i].stacks);
	memset(chunks, 0, sizeof chunks);
	memset(&machine, 0, sizeof machine);
	is_first_in_use = false;
	return 0;
}

static void a_process_with_one_thread_maps_nothing(void **state)
{
	u8 *stack = stack_pool_take();

	(void)state;
	assert_non_null(stack);
	memset(stack, 1, STACK_POOL_BYTES);
	stack_pool_give(stack);
	assert_ptr_equal(stack_pool_take(), stack);
	assert_int_equal(machine.mappings, 0);
}

static void stacks_in_use_are_all_different_and_sixteen_take_one_mapping(void **state)
{
	u8 *stacks[1 + 2 * CHUNK_STACKS];
	const u32 count = sizeof stacks / sizeof stacks[0];

	(void)state;
	for (u32 i = 0; i < count; i++) {
		stacks[i] = stack_pool_take();
		assert_non_null(stacks[i]);
		memset(stacks[i], (int)i, STACK_POOL_BYTES);
	}
	for (u32 i = 0; i < count; i++) {
		assert_int_equal(stacks[i][0], i);
		assert_int_equal(stacks[i][STACK_POOL_BYTES - 1], i);
	}
	assert_int_equal(machine.mappings, 2);
}

static void one_that_is_given_back_is_the_next_thread_s(void **state)
{
	void *stacks[20];

	(void)state;
	for (u32 i = 0; i < 20; i++)
		stacks[i] = stack_pool_take();
	stack_pool_give(stacks[7]);
	stack_pool_give(NULL);
	assert_ptr_equal(stack_pool_take(), stacks[7]);
	stack_pool_give(stacks[18]);
	assert_ptr_equal(stack_pool_take(), stacks[18]);
	assert_int_equal(machine.mappings, 2);
}

static void where_memory_is_short_there_is_none(void **state)
{
	(void)state;
	machine.is_short = true;
	assert_non_null(stack_pool_take());
	assert_null(stack_pool_take());
	machine.is_short = false;
	assert_non_null(stack_pool_take());
}

static void in_a_child_of_fork_only_its_own_is_in_use(void **state)
{
	void *stacks[20];

	(void)state;
	for (u32 i = 0; i < 20; i++)
		stacks[i] = stack_pool_take();
	stack_pool_forget_others(stacks[3]);
	for (u32 i = 0; i < 19; i++)
		assert_ptr_not_equal(stack_pool_take(), stacks[3]);
	stack_pool_forget_others(NULL);
	assert_ptr_equal(stack_pool_take(), stacks[0]);
	assert_int_equal(machine.mappings, 2);
}

#define POOL(test) cmocka_unit_test_setup(test, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		POOL(a_process_with_one_thread_maps_nothing),
		POOL(stacks_in_use_are_all_different_and_sixteen_take_one_mapping),
		POOL(one_that_is_given_back_is_the_next_thread_s),
		POOL(where_memory_is_short_there_is_none),
		POOL(in_a_child_of_fork_only_its_own_is_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
