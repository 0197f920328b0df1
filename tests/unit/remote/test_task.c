/* What /proc says of a thread, from the kernel's text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "remote/task.h"

static void a_blocked_call_has_its_number_arguments_sp_and_pc(void **state)
{
	struct task_call call;

	(void)state;
	assert_true(task_parse_call(
		"0 0x3 0x7ffc0010 0x400 0x0 0x0 0xff 0x7ffc1230 0x7f00abcd12", &call));
	assert_false(call.is_running);
	assert_int_equal(call.number, 0);
	assert_int_equal(call.arguments[0], 3);
	assert_int_equal(call.arguments[1], 0x7ffc0010);
	assert_int_equal(call.arguments[5], 0xff);
	assert_int_equal(call.sp, 0x7ffc1230);
	assert_int_equal(call.pc, 0x7f00abcd12);
}

static void blocked_outside_of_calls_is_minus_one(void **state)
{
	struct task_call call;

	(void)state;
	assert_true(task_parse_call("-1 0x7ffc1230 0x401000", &call));
	assert_false(call.is_running);
	assert_int_equal(call.number, -1);
	assert_int_equal(call.sp, 0x7ffc1230);
	assert_int_equal(call.pc, 0x401000);
}

static void running_has_nothing_else(void **state)
{
	struct task_call call;

	(void)state;
	assert_true(task_parse_call("running", &call));
	assert_true(call.is_running);
}

static void lines_that_are_cut_or_strange_are_none(void **state)
{
	static const char *const lines[] = {
		"",
		"0",
		"0 0x3",
		"0 0x3 0x7ffc0010 0x400 0x0 0x0 0xff 0x7ffc1230",
		"-1",
		"-1 0x10",
		"x 0x3 0x1 0x2 0x0 0x0 0xff 0x7 0x7",
	};
	struct task_call call;

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		assert_false(task_parse_call(lines[i], &call));
}

static const char status_text[] =
	"Name:\ta thread\nUmask:\t0022\nState:\tS (sleeping)\n"
	"Tgid:\t41\nPid:\t42\nTracerPid:\t7\n"
	"Uid:\t1000\t1001\t1002\t1003\nFDSize:\t256\nNSpid:\t42\t9\t3\n"
	"voluntary_ctxt_switches:\t120\n"
	"nonvoluntary_ctxt_switches:\t5\n";

static void a_status_has_both_kinds_of_switches_and_the_innermost_number(void **state)
{
	struct task_status status;

	(void)state;
	assert_true(task_parse_status(status_text, &status));
	assert_string_equal(status.name, "a thread");
	assert_int_equal(status.state, 'S');
	assert_int_equal(status.tgid, 41);
	assert_int_equal(status.inner_tid, 3);
	assert_int_equal(status.tracer, 7);
	assert_int_equal(status.switches, 125);
	assert_int_equal(status.descriptors_most, 256);
	assert_true(status.has_uid);
	assert_int_equal(status.uid, 1001);
}

static void a_kernel_without_namespaces_has_one_number(void **state)
{
	struct task_status status;

	(void)state;
	assert_true(task_parse_status("State:\tR (running)\nPid:\t42\n", &status));
	assert_int_equal(status.inner_tid, 42);
	assert_false(task_parse_status("Name:\tx\n", &status));
}

static void a_thread_rested_if_nothing_moved(void **state)
{
	const struct task_call call = { .number = 7, .sp = 1, .pc = 2 };
	const struct task_call moved = { .number = 7, .sp = 9, .pc = 2 };
	const struct task_call runs = { .is_running = true };
	const struct task_status once = { .switches = 5 }, twice = { .switches = 6 };

	(void)state;
	assert_true(task_rested(&call, &once, &call, &once));
	assert_false(task_rested(&call, &once, &moved, &once));
	assert_false(task_rested(&call, &once, &runs, &once));
	assert_false(task_rested(&runs, &once, &runs, &once));
	/* It woke, and waits in the same place again. */
	assert_false(task_rested(&call, &once, &call, &twice));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_blocked_call_has_its_number_arguments_sp_and_pc),
		cmocka_unit_test(blocked_outside_of_calls_is_minus_one),
		cmocka_unit_test(running_has_nothing_else),
		cmocka_unit_test(lines_that_are_cut_or_strange_are_none),
		cmocka_unit_test(a_status_has_both_kinds_of_switches_and_the_innermost_number),
		cmocka_unit_test(a_kernel_without_namespaces_has_one_number),
		cmocka_unit_test(a_thread_rested_if_nothing_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
