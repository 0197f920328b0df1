#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"

static void a_failure_is_its_code_and_a_sentence(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(error_set(&err, -ENOEXEC, "%s: not an ELF file", "a.out"), -ENOEXEC);
	assert_string_equal(err.text, "a.out: not an ELF file");
}

static void a_context_stands_in_front(void **state)
{
	struct error err;

	(void)state;
	error_set(&err, -EIO, "the disk is full");
	assert_int_equal(error_wrap(&err, -EIO, "cannot write %s", "x"), -EIO);
	assert_string_equal(err.text, "cannot write x: the disk is full");
}

static void the_system_says_why_at_the_end(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(error_errno(&err, -ENOENT, "cannot open %s", "x"), -ENOENT);
	assert_string_equal(err.text, "cannot open x: No such file or directory");
}

static void the_sentence_is_there_unasked(void **state)
{
	(void)state;
	assert_int_equal(error_set(NULL, -EIO, "x"), -EIO);
	assert_int_equal(error_wrap(NULL, -EIO, "x"), -EIO);
	assert_int_equal(error_errno(NULL, -EIO, "x"), -EIO);
}

static void a_sentence_may_be_made_of_the_one_before(void **state)
{
	struct error err;

	(void)state;
	error_set(&err, -EIO, "inner");
	error_set(&err, -EIO, "outer (%s)", err.text);
	assert_string_equal(err.text, "outer (inner)");
}

static void a_sentence_too_long_is_cut_at_a_whole_character(void **state)
{
	struct error err;
	char long_text[4000];

	(void)state;
	for (size_t i = 0; i + 2 < sizeof long_text; i += 2)
		memcpy(long_text + i, "\303\274", 2);
	long_text[sizeof long_text - 2] = '\0';
	error_set(&err, -EIO, "x%s", long_text);
	assert_int_equal(strlen(err.text), sizeof err.text - 1);
	error_set(&err, -EIO, "%s", long_text);
	assert_int_equal(strlen(err.text), sizeof err.text - 2);
	error_wrap(&err, -EIO, "xy");
	assert_int_equal(strlen(err.text), sizeof err.text - 2);
	assert_memory_equal(err.text, "xy: \303\274", 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_is_its_code_and_a_sentence),
		cmocka_unit_test(a_context_stands_in_front),
		cmocka_unit_test(the_system_says_why_at_the_end),
		cmocka_unit_test(the_sentence_is_there_unasked),
		cmocka_unit_test(a_sentence_may_be_made_of_the_one_before),
		cmocka_unit_test(a_sentence_too_long_is_cut_at_a_whole_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
