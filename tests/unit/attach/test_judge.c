/* Which processes no agent is brought into, by what the kernel says of them. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "attach/judge.h"
#include "attach/status.h"
#include "base/error.h"
#include "target/maps.h"

static const char usual[] =
	"Name:\tpython3\nState:\tS (sleeping)\nTgid:\t120\nPid:\t121\n"
	"NSpid:\t121\t17\nTracerPid:\t0\nThreads:\t3\nSigPnd:\t0000000000000000\n"
	"ShdPnd:\t0000000000000000\nSigBlk:\t0000000000000010\n"
	"SigIgn:\t0000000001001000\nSigCgt:\t0000000000000002\n"
	"Seccomp:\t0\nx86_Thread_features:\t\n";

static void test_a_status_is_read(void **state)
{
	struct attach_status status;

	(void)state;
	assert_true(attach_status_parse(usual, &status));
	assert_int_equal(status.state, 'S');
	assert_int_equal(status.tgid, 120);
	assert_int_equal(status.threads, 3);
	assert_int_equal(status.inner_tid, 17);
	assert_true(attach_status_has_signal(status.blocked, SIGTRAP));
	assert_false(attach_status_has_signal(status.blocked, SIGINT));
	assert_true(attach_status_has_signal(status.caught, SIGINT));
	assert_false(status.has_shadow_stack);
	assert_false(attach_status_parse("Name:\tx\n", &status));
	assert_false(attach_status_parse("", &status));
}

static void assert_refused(const struct attach_status *status, const char *words)
{
	struct error err;

	assert_true(judge_status(status, &err) < 0);
	assert_non_null(strstr(err.text, words));
}

static void test_what_is_in_the_way_is_named(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(judge_status(&(struct attach_status){ .state = 'R' }, &err), 0);
	assert_refused(&(struct attach_status){ .state = 'S', .debugger = 77 },
		       "process 77 traces");
	assert_refused(&(struct attach_status){ .state = 'T', .tgid = 5 }, "kill -CONT 5");
	assert_refused(&(struct attach_status){ .state = 'Z' }, "has ended");
	assert_refused(&(struct attach_status){ .state = 'S', .has_shadow_stack = true },
		       "shadow");
}

static void test_a_sanitizer_is_named(void **state)
{
	static const char text[] = "7f0000000000-7f0000001000 r-xp 00000000 08:01 7 "
				   "/usr/lib/libtsan.so.2\n";
	struct maps *maps = maps_parse(text, strlen(text));
	struct error err;

	(void)state;
	assert_int_equal(judge_maps(maps, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "libtsan.so.2"));
	maps_free(maps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_status_is_read),
		cmocka_unit_test(test_what_is_in_the_way_is_named),
		cmocka_unit_test(test_a_sanitizer_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
