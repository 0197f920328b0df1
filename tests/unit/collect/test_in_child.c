/*
 * test_in_child - a measurement in a child that its parent does not wait for, and one that it does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/system/child_measurement.h"

static uint64_t stop(const void *context)
{
	raise(SIGSTOP);
	return *(const uint64_t *)context;
}

static uint64_t end_without(const void *context)
{
	(void)context;
	_exit(3);
}

static void wait_until_it_has_stopped(const struct child_measurement *child)
{
	int status;

	assert_int_equal(waitpid(child->pid, &status, WUNTRACED), child->pid);
	assert_true(WIFSTOPPED(status));
}

static void a_parent_goes_on_while_it_is_measured(void **state)
{
	const uint64_t figure = 42;
	uint64_t result = 7;
	struct child_measurement child;

	(void)state;
	assert_true(child_measurement_begin(&child, stop, &figure));
	wait_until_it_has_stopped(&child);
	assert_false(child_measurement_take(&child, false, &result));
	kill(child.pid, SIGCONT);
	assert_true(child_measurement_take(&child, true, &result));
	assert_int_equal(result, figure);
	/* There is nothing more. */
	assert_true(child_measurement_take(&child, false, &result));
	assert_int_equal(result, 0);
}

static void one_that_ends_early_measured_nothing(void **state)
{
	(void)state;
	assert_int_equal(child_measurement_run(end_without, NULL), 0);
}

/* What waits for the recorder to close it does not wait for the child. */
static void it_has_no_descriptor_of_its_parents(void **state)
{
	const uint64_t figure = 1;
	uint64_t result;
	struct child_measurement child;
	int ends[2];
	char byte;

	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	assert_true(child_measurement_begin(&child, stop, &figure));
	wait_until_it_has_stopped(&child);
	close(ends[1]);
	/* The end, and no EAGAIN. */
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	kill(child.pid, SIGCONT);
	assert_true(child_measurement_take(&child, true, &result));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_parent_goes_on_while_it_is_measured),
		cmocka_unit_test(one_that_ends_early_measured_nothing),
		cmocka_unit_test(it_has_no_descriptor_of_its_parents),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
