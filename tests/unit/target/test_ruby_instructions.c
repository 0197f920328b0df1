/* Its argument is the folder with the libraries that are built of fake_instructions.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/memory.h"
#include "target/elf_file.h"
#include "target/ruby_instructions.h"

static const char *folder;

#define STAYS RUBY_INSTRUCTION_PC_STAYS

/* Of nop, getlocal, opt_plus and leave. */
static const struct ruby_row with_table = {
	.major = 3,
	.minor = 1,
	.instruction_count = 8,
	.instructions = { STAYS, STAYS, RUBY_OPERATOR_PLUS | STAYS, RUBY_OPERATOR_LEAVE, STAYS,
			  STAYS, RUBY_OPERATOR_PLUS | STAYS, RUBY_OPERATOR_LEAVE },
};
static const struct ruby_row other_table = {
	.major = 3,
	.minor = 1,
	.instruction_count = 8,
	.instructions = { 0, 0, RUBY_OPERATOR_MINUS, RUBY_OPERATOR_LEAVE, 0, 0,
			  RUBY_OPERATOR_MINUS, RUBY_OPERATOR_LEAVE },
};
static const struct ruby_row without = { .major = 4, .minor = 0 };

static const struct {
	const char *name;
	const char *library;
	const struct ruby_row *row;
	size_t count;
	const char *refusal; /* "": what is found is in the row, or in doubles_of_jit */
} cases[] = {
	{ "those of the row", "plain", &with_table, 8, "" },
	{ "another row", "plain", &other_table, 8,
	  "its instruction opt_plus is not where CRuby 3.1 has it" },
	{ "more than the names", "plain", &with_table, 10,
	  "its instructions do not have 10 names" },
	{ "a row of others", "jit", &with_table, 9,
	  "it has 9 instructions, not the 8 of CRuby 3.1" },
	{ "none that trace", "untraced", &with_table, 8,
	  "its instructions do not have 8 names" },
	{ "others that trace", "mixed", &with_table, 8,
	  "its instructions do not have 8 names" },
	{ "no names", "nameless", &with_table, 8, "its instructions do not have 8 names" },
	{ "doubles of ZJIT", "jit", &without, 9, "" },
};

static const u8 doubles_of_jit[] = { 0,
				     0,
				     RUBY_OPERATOR_PLUS,
				     RUBY_OPERATOR_LEAVE,
				     0,
				     0,
				     RUBY_OPERATOR_PLUS,
				     RUBY_OPERATOR_LEAVE,
				     RUBY_OPERATOR_PLUS };

static void instructions_are_known_by_their_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CLEANUP(freep) char *path = NULL;
		CLEANUP(elf_file_close) struct elf_file elf;
		u8 found[RUBY_MAX_INSTRUCTIONS];
		struct error err = { "" };

		assert_true(asprintf(&path, "%s/libfake_instructions_%s.so", folder,
				     cases[i].library) > 0);
		assert_int_equal(elf_file_open(path, &elf, &err), 0);

		int rc =
			ruby_instructions_find(&elf, cases[i].row, cases[i].count, found, &err);

		print_message("%s\n", cases[i].name);
		assert_string_equal(err.text, cases[i].refusal);
		assert_int_equal(rc, *cases[i].refusal ? -ENOTSUP : 0);
		if (rc == 0)
			assert_memory_equal(found,
					    cases[i].row == &without ? doubles_of_jit
								     : with_table.instructions,
					    cases[i].count);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_are_known_by_their_names),
	};

	folder = argc > 1 ? argv[1] : ".";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
