/*
 * Dispatch hooks come before the instructions that they are meant for: each version's row against
 * the instruction table of that version, as it says it itself (opcodes/: NAME:NUMBER; _opcode_metadata,
 * or Include/opcode.h up to 3.12).
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/trace/python/dispatch_rows.h"

#define NUMBERS             256
#define YIELD_VALUE_OF_3_11 86

struct table {
	char *names[NUMBERS]; /* NULL: no instruction has the number */
};

static const char *const hook_names[DISPATCH_HOOKS] = {
#define X(number, name, ...) [number] = #name,
	DISPATCH_MAP(X) DISPATCH_WATCH_MAP(X)
#undef X
};

/* Instructions that later versions have, too, where a hook before them would do nothing. */
static bool is_of_3_11(int hook)
{
	return hook >= HOOK_BEFORE_RESUME_QUICK; /* the last ones */
}

static const struct version {
	const char *name;
	u32 number;
} versions[] = { { "3.11", 0x030b },
		 { "3.12", 0x030c },
		 { "3.13", 0x030d },
		 { "3.14", 0x030e },
		 { "3.15", 0x030f } };
#define VERSIONS (sizeof versions / sizeof *versions)

static void read_table(const char *version, struct table *out)
{
	char path[4096], word[128];

	*out = (struct table){ 0 };
	snprintf(path, sizeof path, "%s/%s", getenv("OPCODES"), version);
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	while (fscanf(file, "%127s", word) == 1) {
		char *colon = strchr(word, ':');

		assert_non_null(colon);
		*colon = '\0';
		const long number = strtol(colon + 1, NULL, 10);

		assert_in_range(number, 0, NUMBERS - 1);
		assert_null(out->names[number]);
		out->names[number] = strdup(word);
	}
	fclose(file);
}

static void free_table(struct table *table)
{
	for (int i = 0; i < NUMBERS; i++)
		free(table->names[i]);
}

/* 0: there is no such instruction. */
static int number_of(const struct table *table, const char *name)
{
	for (int i = 0; i < NUMBERS; i++) {
		if (table->names[i] != NULL && strcmp(table->names[i], name) == 0)
			return i;
	}
	return 0;
}

/* 3.12 has CALL_NO_KW_LEN where later versions have CALL_LEN. */
static int number_in(const struct table *table, const char *name)
{
	char older[128];
	const int number = number_of(table, name);

	if (number != 0 || strncmp(name, "CALL_", 5) != 0)
		return number;
	snprintf(older, sizeof older, "CALL_NO_KW_%s", name + 5);
	return number_of(table, older);
}

static void test_rows_have_the_numbers_of_their_version(void **state)
{
	(void)state;
	for (size_t i = 0; i < VERSIONS; i++) {
		const struct dispatch_row *row = dispatch_row_of(versions[i].number);
		struct table table;

		assert_non_null(row);
		read_table(versions[i].name, &table);
		for (int hook = 0; hook < (int)DISPATCH_HOOKS; hook++) {
			const bool is_left_out = row->has_eval_frame
							 ? hook == HOOK_BEFORE_YIELD_VALUE
							 : is_of_3_11(hook);
			const int wanted =
				is_left_out ? 0 : number_in(&table, hook_names[hook]);

			if (row->opcodes[hook] != wanted)
				fail_msg("%s: %s", versions[i].name, hook_names[hook]);
		}
		free_table(&table);
	}
}

/* Calls by an instruction of which nothing is to be counted. */
static bool is_uncounted(const char *name)
{
	return strncmp(name, "CALL_INTRINSIC_", 15) == 0 ||
	       strcmp(name, "CALL_FUNCTION_EX_KW") == 0 ||
	       strcmp(name, "RETURN_GENERATOR") == 0;
}

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

/* What calls, begins or ends a function, other tools' forms of it included. */
static bool is_to_have_hook(const char *name)
{
	if (begins(name, "INSTRUMENTED_"))
		name += strlen("INSTRUMENTED_");
	return (begins(name, "CALL") || begins(name, "RESUME") || begins(name, "RETURN_") ||
		begins(name, "YIELD_")) &&
	       !is_uncounted(name);
}

static bool has_hook(const struct dispatch_row *row, int number)
{
	/* 3.11: a generator that yields is seen by the eval_frame function that has executed it. */
	if (row->has_eval_frame && number == YIELD_VALUE_OF_3_11)
		return true;
	for (int hook = 0; hook < (int)DISPATCH_HOOKS; hook++) {
		if (row->opcodes[hook] == number)
			return true;
	}
	return false;
}

static void test_no_instruction_that_calls_is_without_a_hook(void **state)
{
	(void)state;
	for (size_t i = 0; i < VERSIONS; i++) {
		const struct dispatch_row *row = dispatch_row_of(versions[i].number);
		struct table table;

		read_table(versions[i].name, &table);
		for (int number = 1; number < NUMBERS; number++) {
			const char *name = table.names[number];

			if (name != NULL && is_to_have_hook(name) && !has_hook(row, number))
				fail_msg("%s: %s", versions[i].name, name);
		}
		free_table(&table);
	}
}

static void check_unused(const char *version, int first, int last)
{
	struct table table;

	read_table(version, &table);
	for (int number = first; number <= last; number++)
		assert_null(table.names[number]);
	assert_non_null(table.names[first - 1]);
	assert_non_null(table.names[last + 1]);
	free_table(&table);
}

static void test_the_run_that_a_table_is_known_by_is_unused(void **state)
{
	(void)state;
	for (size_t i = 0; i < VERSIONS; i++) {
		const struct dispatch_row *row = dispatch_row_of(versions[i].number);

		check_unused(versions[i].name, row->first_unused, row->last_unused);
	}
}

static void test_other_versions_have_no_row(void **state)
{
	(void)state;
	assert_null(dispatch_row_of(0x030a));
	assert_null(dispatch_row_of(0x0310));
	assert_null(dispatch_row_of(0));
}

/* What calls a C function before the CALL behind it; the others leave it to that. */
static void test_what_3_11_calls_by_PRECALL_has_a_hook(void **state)
{
	static const char *const others[] = {
		"PRECALL",
		"PRECALL_ADAPTIVE",
		"PRECALL_BOUND_METHOD",
		"PRECALL_BUILTIN_CLASS",
		"PRECALL_NO_KW_STR_1",
		"PRECALL_NO_KW_TUPLE_1",
		"PRECALL_NO_KW_TYPE_1",
		"PRECALL_PYFUNC",
	};
	const struct dispatch_row *row = dispatch_row_of(0x030b);
	struct table table;

	(void)state;
	read_table("3.11", &table);
	for (int number = 1; number < NUMBERS; number++) {
		const char *name = table.names[number];
		bool is_other = name == NULL || !begins(name, "PRECALL");

		for (size_t i = 0; i < sizeof others / sizeof *others && !is_other; i++)
			is_other = strcmp(name, others[i]) == 0;
		if (!is_other && !has_hook(row, number))
			fail_msg("%s", name);
	}
	free_table(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_have_the_numbers_of_their_version),
		cmocka_unit_test(test_no_instruction_that_calls_is_without_a_hook),
		cmocka_unit_test(test_the_run_that_a_table_is_known_by_is_unused),
		cmocka_unit_test(test_other_versions_have_no_row),
		cmocka_unit_test(test_what_3_11_calls_by_PRECALL_has_a_hook),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
