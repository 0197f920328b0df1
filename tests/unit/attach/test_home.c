/* With which registers a stopped thread goes on. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "attach/home.h"

#define AT 0x401002

static struct user_regs_struct in_call(long number, long result)
{
	return (struct user_regs_struct){
		.cs = 0x33,
		.rip = AT,
		.rsp = 0x7000,
		.orig_rax = (unsigned long long)number,
		.rax = (unsigned long long)result,
	};
}

static void assert_begun_anew(const struct user_regs_struct *registers, long number)
{
	assert_int_equal(registers->rip, AT - 2);
	assert_int_equal(registers->rax, number);
	assert_int_equal((long long)registers->orig_rax, -1);
}

static void test_running_code_goes_on_where_it_was(void **state)
{
	struct user_regs_struct stopped = in_call(-1, 7);
	struct home home;

	(void)state;
	assert_null(home_of(&stopped, &home));
	assert_false(home.is_in_call);
	assert_memory_equal(&home.resumed, &stopped, sizeof stopped);
}

static void test_an_interrupted_call_begins_anew(void **state)
{
	const long results[] = { -EINTR, -512, -513, -514 };
	struct home home;

	(void)state;
	for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
		const struct user_regs_struct stopped = in_call(SYS_epoll_wait, results[i]);

		assert_null(home_of(&stopped, &home));
		assert_true(home.is_in_call);
		assert_begun_anew(&home.resumed, SYS_epoll_wait);
		assert_begun_anew(&home.restored, SYS_epoll_wait);
	}
}

static void test_the_rest_of_a_sleep_is_kept_where_the_kernel_has_it(void **state)
{
	const struct user_regs_struct stopped = in_call(SYS_nanosleep, -516);
	struct home home;

	(void)state;
	assert_null(home_of(&stopped, &home));
	assert_begun_anew(&home.resumed, SYS_restart_syscall);
	assert_begun_anew(&home.restored, SYS_nanosleep);
}

static void test_a_call_that_is_done_keeps_its_result(void **state)
{
	const struct user_regs_struct stopped = in_call(SYS_read, 12);
	struct home home;

	(void)state;
	assert_null(home_of(&stopped, &home));
	assert_int_equal(home.resumed.rip, AT);
	assert_int_equal(home.resumed.rax, 12);
	assert_int_equal((long long)home.resumed.orig_rax, -1);
}

static void test_some_moments_are_refused(void **state)
{
	struct user_regs_struct stopped = in_call(SYS_restart_syscall, -516);
	struct home home;

	(void)state;
	assert_non_null(home_of(&stopped, &home));
	stopped = in_call(-1, 0);
	stopped.cs = 0x23;
	assert_non_null(home_of(&stopped, &home));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_running_code_goes_on_where_it_was),
		cmocka_unit_test(test_an_interrupted_call_begins_anew),
		cmocka_unit_test(test_the_rest_of_a_sleep_is_kept_where_the_kernel_has_it),
		cmocka_unit_test(test_a_call_that_is_done_keeps_its_result),
		cmocka_unit_test(test_some_moments_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
