/* The kernel's functions, by the lines of /proc/kallsyms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collect/samples/kernel_frames.h"

static const char lines[] = "ffffffff81000000 T _text\n"
			    "0000000000000010 D per_cpu\n"
			    "ffffffffc0001000 t of_module\t[ext4]\n"
			    "ffffffff81000100 t first\n"
			    "ffffffff81000200 d no_function\n"
			    "not a line\n"
			    "ffffffff81000300 W\n"
			    "ffffffff81000400 T \n"
			    "ffffffff81000500 T last";

static const struct {
	uint64_t address;
	const char *name;
} cases[] = {
	{ 0xffffffff81000000, "_text" },
	{ 0xffffffff810000ff, "_text" },
	{ 0xffffffff81000100, "first" },
	{ 0xffffffff81000200, "first" },
	{ 0xffffffff81000500, "last" },
	{ 0xffffffffc0001000, "of_module" },
	{ 0xffffffffffffffff, "of_module" },
	{ 0xffffffff80ffffff, "[kernel]" },
	{ 0, "[kernel]" },
};

static void an_address_is_in_the_function_that_begins_before_it(void **state)
{
	struct kernel_frames frames = { 0 };
	char text[sizeof lines];

	(void)state;
	memcpy(text, lines, sizeof lines);
	kernel_frames_parse(&frames, text);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct kernel_symbol *symbol =
			kernel_frames_find(&frames, cases[i].address);

		assert_string_equal(symbol->name, cases[i].name);
	}
	kernel_frames_done(&frames);
}

static void where_addresses_are_hidden_all_is_the_kernel(void **state)
{
	struct kernel_frames frames = { 0 };
	char text[] = "0000000000000000 T _text\n0000000000000000 T first\n";

	(void)state;
	kernel_frames_parse(&frames, text);
	assert_int_equal(frames.count, 1);
	assert_string_equal(kernel_frames_find(&frames, UINT64_MAX)->name, "[kernel]");
	kernel_frames_done(&frames);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_in_the_function_that_begins_before_it),
		cmocka_unit_test(where_addresses_are_hidden_all_is_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
