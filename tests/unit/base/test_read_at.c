#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/read_at.h"

static void a_part_is_read_whole_or_not_at_all(void **state)
{
	static const struct {
		const char *name;
		uint64_t offset;
		size_t len;
		bool is_there;
	} cases[] = {
		{ "the whole file", 0, 6, true },
		{ "its end", 4, 2, true },
		{ "nothing, at its end", 6, 0, true },
		{ "a byte too many", 4, 3, false },
		{ "past the end", 7, 1, false },
		{ "where no file can be", UINT64_MAX, 1, false },
		{ "up to where no file can be", INT64_MAX, 1, false },
	};
	char path[] = "/tmp/fathom-read-at-XXXXXX", got[8];
	const int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(write(fd, "abcdef", 6), 6);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (read_at(fd, got, cases[i].len, cases[i].offset) != cases[i].is_there)
			fail_msg("%s", cases[i].name);
		if (cases[i].is_there)
			assert_memory_equal(got, &"abcdef"[cases[i].offset], cases[i].len);
	}
	close(fd);
	assert_false(read_at(fd, got, 1, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_is_read_whole_or_not_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
