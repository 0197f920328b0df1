/* Which programs are brief among children of which others last. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
/* cmocka.h expects those before it. */
#include <cmocka.h>

#include "collect/processes/brief_programs.h"

/* Files that are there; what they are does not matter. */
static const char *const files[] = { "/", "/proc", "/dev", "/usr", "/etc" };
#define FILES (sizeof files / sizeof files[0])

static bool run(struct brief_programs *programs, const char *path, int times)
{
	bool has_changed = false;

	for (int i = 0; i < times; i++)
		has_changed |= brief_programs_take(programs, path, true);
	return has_changed;
}

static size_t count(const struct brief_programs *programs)
{
	struct ring_program listed[RING_BRIEF_PROGRAMS];

	return brief_programs_list(programs, listed);
}

static void test_eight_brief_runs_in_a_row_list_a_program(void **state)
{
	struct brief_programs programs = { 0 };
	struct ring_program listed[RING_BRIEF_PROGRAMS];
	struct stat status;

	(void)state;
	assert_false(run(&programs, "/dev", BRIEF_PROGRAM_RUNS - 1));
	assert_false(brief_programs_take(&programs, "/dev", false));
	assert_false(run(&programs, "/dev", BRIEF_PROGRAM_RUNS - 1));
	assert_false(brief_programs_has(&programs, "/dev"));
	assert_true(run(&programs, "/dev", 1));
	assert_true(brief_programs_has(&programs, "/dev"));
	assert_int_equal(brief_programs_list(&programs, listed), 1);
	assert_int_equal(stat("/dev", &status), 0);
	assert_int_equal(listed[0].device, status.st_dev);
	assert_int_equal(listed[0].inode, status.st_ino);
	assert_int_equal(listed[1].inode, 0);
}

static void test_one_that_lasts_is_not_listed_until_twice_as_many_are_brief(void **state)
{
	struct brief_programs programs = { 0 };

	(void)state;
	run(&programs, "/dev", BRIEF_PROGRAM_RUNS);
	assert_true(brief_programs_take(&programs, "/dev", false));
	assert_int_equal(count(&programs), 0);
	assert_false(run(&programs, "/dev", 2 * BRIEF_PROGRAM_RUNS - 1));
	assert_true(run(&programs, "/dev", 1));
}

static void test_a_program_that_lasts_changes_nothing_for_another(void **state)
{
	struct brief_programs programs = { 0 };

	(void)state;
	for (int i = 0; i < 2 * BRIEF_PROGRAM_RUNS; i++) {
		brief_programs_take(&programs, "/dev", true);
		assert_false(brief_programs_take(&programs, "/etc", false));
	}
	assert_true(brief_programs_has(&programs, "/dev"));
	assert_false(brief_programs_has(&programs, "/etc"));
}

static void test_no_more_are_listed_than_the_ring_holds(void **state)
{
	struct brief_programs programs = { 0 };

	(void)state;
	for (size_t i = 0; i < FILES; i++)
		run(&programs, files[i], BRIEF_PROGRAM_RUNS);
	assert_int_equal(count(&programs), RING_BRIEF_PROGRAMS);
	assert_true(brief_programs_has(&programs, files[0]));
	assert_false(brief_programs_has(&programs, files[FILES - 1]));
}

static void test_a_thousand_others_push_no_listed_one_out(void **state)
{
	struct brief_programs programs = { 0 };
	static char paths[1000][8];

	(void)state;
	run(&programs, "/dev", BRIEF_PROGRAM_RUNS);
	for (size_t i = 0; i < 1000; i++) {
		paths[i][0] = (char)('a' + i % 26);
		paths[i][1] = (char)('a' + i / 26 % 26);
		paths[i][2] = (char)('a' + i / 676);
		assert_false(run(&programs, paths[i], BRIEF_PROGRAM_RUNS));
	}
	assert_int_equal(count(&programs), 1);
	brief_programs_forget(&programs);
	assert_int_equal(count(&programs), 0);
	assert_true(run(&programs, "/dev", BRIEF_PROGRAM_RUNS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_eight_brief_runs_in_a_row_list_a_program),
		cmocka_unit_test(
			test_one_that_lasts_is_not_listed_until_twice_as_many_are_brief),
		cmocka_unit_test(test_a_program_that_lasts_changes_nothing_for_another),
		cmocka_unit_test(test_no_more_are_listed_than_the_ring_holds),
		cmocka_unit_test(test_a_thousand_others_push_no_listed_one_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
