/* Functions of interpreted programs, and the interpreters. */
#include "fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "record/writer_state.h"

static const struct recording_code codes[] = {
	{ .language = 1, .name = "run", .qualified_name = "A.run", .file = "/a.py", .line = 3 },
	{ .language = 1, .name = "run", .qualified_name = "B.run", .file = "/a.py", .line = 3 },
	{ .language = 1, .name = "run", .qualified_name = "A.run", .file = "/b.py", .line = 3 },
	{ .language = 1, .name = "run", .qualified_name = "A.run", .file = "/a.py", .line = 4 },
	{ .language = 2, .name = "run", .qualified_name = "A.run", .file = "/a.py", .line = 3 },
	{ .language = 1, .name = "run", .file = "/a.py", .line = 3 },
	{ .language = 1, .name = "run", .qualified_name = "", .file = "/a.py", .line = 3 },
	{ .language = 1, .name = "run", .qualified_name = "A.run", .line = UINT32_MAX },
	{ .language = 1, .name = "", .file = "odd\xff\xfe.py" },
	{ .language = 1, .name = "\xc3\xa4\xf0\x9f\x90\x8d", .qualified_name = "<locals>" },
};

#define CODES (sizeof codes / sizeof codes[0])

static void assert_text(const char *is, const char *due)
{
	if (due == NULL)
		assert_null(is);
	else
		assert_string_equal(is, due);
}

static int check_code(void *context, const struct recording_code *row)
{
	const uint32_t number = (*(uint32_t *)context)++;
	const struct recording_code *due = &codes[number % CODES];

	assert_int_equal(row->id, number + 1);
	assert_int_equal(row->language, due->language);
	assert_text(row->name, due->name);
	assert_text(row->qualified_name, due->qualified_name);
	assert_text(row->file, due->file);
	assert_int_equal(row->line, due->line);
	return 0;
}

static uint32_t count_codes(const char *path)
{
	struct recording_reader *reader = open_reading(path);
	struct error err = { "" };
	uint32_t count = 0;

	must(recording_reader_each_code(reader, check_code, &count, &err), &err);
	recording_reader_close(reader);
	return count;
}

static void codes_that_differ_in_anything_are_distinguished_and_come_back(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	uint32_t id;

	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t i = 0; i < CODES; i++) {
			assert_int_equal(recording_writer_add_code(writer, &codes[i], &id), 0);
			assert_int_equal(id, i + 1);
		}
	finish(writer);
	assert_int_equal(count_codes(path), CODES);
}

static void what_was_forgotten_is_written_again(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	uint32_t id;

	writer->codes.limit_bytes = 1;
	for (uint32_t i = 0; i < 3 * CODES; i++) {
		assert_int_equal(recording_writer_add_code(writer, &codes[i % CODES], &id), 0);
		assert_int_equal(id, i + 1);
		assert_in_range(writer->codes.young.contents.count, 1, 1);
		assert_in_range(writer->codes.old.contents.count, 0, 1);
	}
	finish(writer);
	assert_int_equal(count_codes(path), 3 * CODES);
}

static void what_is_used_is_not_forgotten(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	char name[16];
	uint32_t id;

	writer->codes.limit_bytes = 200;
	for (uint32_t i = 0; i < 1000; i++) {
		const struct recording_code other = { .language = 1, .name = name };

		snprintf(name, sizeof name, "f%u", (unsigned)i);
		assert_int_equal(recording_writer_add_code(writer, &codes[0], &id), 0);
		assert_int_equal(id, 1);
		assert_int_equal(recording_writer_add_code(writer, &other, &id), 0);
		assert_int_equal(id, i + 2);
	}
	finish(writer);
}

static void a_code_without_a_name_is_refused(void **state)
{
	struct recording_writer *writer = create(in_folder(state, "a.fathom"));
	uint32_t id;

	assert_int_equal(recording_writer_add_code(writer, &(struct recording_code){ 0 }, &id),
			 -EINVAL);
	finish(writer);
}

static void a_code_without_a_name_is_damage(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct error err = { "" };
	uint32_t count = 0;

	finish(create(path));
	run_sql(path, "INSERT INTO codes VALUES(1, 1, NULL, NULL, NULL, 0)");
	struct recording_reader *reader = open_reading(path);

	assert_int_equal(recording_reader_each_code(reader, check_code, &count, &err),
			 -EBADMSG);
	assert_non_null(strstr(err.text, "row 1 of codes has no name"));
	recording_reader_close(reader);
}

static int check_interpreter(void *context, const struct recording_interpreter *row)
{
	assert_int_equal(row->id, ++*(uint32_t *)context);
	assert_int_equal(row->process, 1);
	assert_int_equal(row->module, row->id == 1 ? 1 : 0);
	assert_int_equal(row->language, 1);
	assert_string_equal(row->version, row->id == 1 ? "3.11.2" : "3.16?");
	assert_text(row->why_not, row->id == 1 ? NULL : "not known");
	return 0;
}

static void interpreters_and_why_they_are_not_walked_come_back(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	struct recording_interpreter row = {
		.process = 1, .module = 1, .language = 1, .version = "3.11.2"
	};
	struct error err = { "" };
	uint32_t count = 0;

	assert_int_equal(recording_writer_add_interpreter(writer, &row, &row.id), -EINVAL);
	add_basics(writer, 1, 1);
	assert_int_equal(recording_writer_add_interpreter(writer, &row, &row.id), 0);
	row.version = "3.16?";
	row.module = 0;
	assert_int_equal(recording_writer_add_interpreter(writer, &row, &row.id), 0);
	assert_int_equal(row.id, 2);
	row.why_not = "not known";
	assert_int_equal(recording_writer_update_interpreter(writer, &row), 0);
	row.id = 3;
	assert_int_equal(recording_writer_update_interpreter(writer, &row), -EINVAL);
	finish(writer);
	struct recording_reader *reader = open_reading(path);

	must(recording_reader_each_interpreter(reader, check_interpreter, &count, &err), &err);
	assert_int_equal(count, 2);
	recording_reader_close(reader);
}

static void a_recording_that_has_ended_gets_no_codes(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	const struct recording_interpreter interpreter = { .process = 1 };
	struct recording_writer *writer = create(path);
	struct error err = { "" };
	uint32_t id;

	add_basics(writer, 1, 1);
	finish(writer);
	must(recording_writer_reopen(path, &writer, &err), &err);
	assert_int_equal(recording_writer_add_code(writer, &codes[0], &id), -EINVAL);
	assert_int_equal(recording_writer_add_interpreter(writer, &interpreter, &id), -EINVAL);
	finish(writer);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(codes_that_differ_in_anything_are_distinguished_and_come_back),
		TEST(what_was_forgotten_is_written_again),
		TEST(what_is_used_is_not_forgotten),
		TEST(a_code_without_a_name_is_refused),
		TEST(a_code_without_a_name_is_damage),
		TEST(interpreters_and_why_they_are_not_walked_come_back),
		TEST(a_recording_that_has_ended_gets_no_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
