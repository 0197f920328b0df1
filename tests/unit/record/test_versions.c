/* Recordings of earlier versions of the schema are read, and can be added to. */
#include "fixture.h"
#include "recorder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* As version 1 had it. */
static const char *make_version_1(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);

	add_basics(writer, 1, 30);
	add_samples(writer, 0, 100, 1, 30);
	finish(writer);
	run_sql(path, "CREATE TABLE kept AS SELECT * FROM threads; DROP TABLE threads;"
		      "CREATE TABLE threads(id INTEGER PRIMARY KEY, process, tid, name, "
		      "start_ns, end_ns, cpu_ns, startup_ns, exit_ns, unentered_ns, "
		      "kernel_unsampled_ns);"
		      "INSERT INTO threads SELECT id, process, tid, name, start_ns, end_ns, "
		      "7, 8, 9, 10, 11 FROM kept; DROP TABLE kept; DROP TABLE codes;"
		      "DROP TABLE interpreters; DROP TABLE calls; DROP TABLE costs; "
		      "ALTER TABLE processes DROP COLUMN title; DROP TABLE owners; PRAGMA "
		      "user_version=1");
	return path;
}

static int check_thread(void *context, const struct recording_thread *row)
{
	assert_int_equal(row->cpu_ns, 7);
	assert_int_equal(row->kernel_unsampled_ns, 11);
	assert_int_equal(row->traced_ns, RECORDING_UNKNOWN);
	++*(unsigned *)context;
	return 0;
}

static void check_version_1(const char *path)
{
	struct recording_reader *reader = open_reading(path);
	struct error err = { "" };
	unsigned seen = 0;

	must(recording_reader_each_thread(reader, check_thread, &seen, &err), &err);
	assert_int_equal(seen, 1);
	recording_reader_close(reader);
}

static void what_version_1_did_not_have_is_unknown(void **state)
{
	check_version_1(make_version_1(state));
}

static void symbols_can_be_added_to_version_1(void **state)
{
	const char *path = make_version_1(state);
	struct recording_function function = { .module = 1, .name = "main", .file = "m.c" };
	struct recording_writer *writer = NULL;
	struct error err = { "" };
	uint32_t id;

	must(recording_writer_reopen(path, &writer, &err), &err);
	assert_int_equal(recording_writer_add_function(writer, &function, &id), 0);
	finish(writer);
	check_version_1(path);
}

/* As version 2 had it: tables of these names, if there are any, are another program's. */
static const char *make_version_2(void **state)
{
	const char *path = in_folder(state, "b.fathom");

	finish(create(path));
	run_sql(path, "DROP TABLE codes; DROP TABLE interpreters; DROP TABLE calls; DROP TABLE "
		      "costs; CREATE "
		      "TABLE codes(mine);"
		      "INSERT INTO codes VALUES('x'); ALTER TABLE processes DROP COLUMN title; "
		      "DROP TABLE owners; PRAGMA user_version=2");
	return path;
}

static int refuse_code(void *context, const struct recording_code *row)
{
	(void)context;
	(void)row;
	return 1;
}

static int refuse_interpreter(void *context, const struct recording_interpreter *row)
{
	(void)context;
	(void)row;
	return 1;
}

static void tables_that_a_version_did_not_have_are_empty(void **state)
{
	const char *paths[] = { make_version_1(state), make_version_2(state) };
	struct error err = { "" };

	for (int i = 0; i < 2; i++) {
		struct recording_reader *reader = open_reading(paths[i]);

		must(recording_reader_each_code(reader, refuse_code, NULL, &err), &err);
		must(recording_reader_each_interpreter(reader, refuse_interpreter, NULL, &err),
		     &err);
		assert_int_equal(recording_reader_each_code(reader, refuse_code, NULL, &err),
				 0);
		recording_reader_close(reader);
	}
}

static void symbols_can_be_added_to_version_2(void **state)
{
	const char *path = make_version_2(state);
	struct recording_writer *writer = NULL;
	struct error err = { "" };
	uint32_t id;

	must(recording_writer_reopen(path, &writer, &err), &err);
	assert_int_equal(recording_writer_add_function(
				 writer, &(struct recording_function){ .name = "main" }, &id),
			 0);
	finish(writer);
	recording_reader_close(open_reading(path));
}

static int check_cost(void *context, const struct recording_cost *row)
{
	assert_int_equal(row->stretch_permille, 1150);
	assert_int_equal(row->pace_permille, RECORDING_UNKNOWN);
	++*(unsigned *)context;
	return 0;
}

static void the_pace_of_version_4_is_unknown(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	const struct recording_cost cost = {
		.process = 1, .kind = 1, .stretch_permille = 1150, .pace_permille = 1310
	};
	struct error err = { "" };
	unsigned seen = 0;
	uint32_t id;

	add_basics(writer, 1, 30);
	must(recording_writer_add_cost(writer, &cost, &id), &err);
	finish(writer);
	run_sql(path, "ALTER TABLE costs DROP COLUMN pace_permille; "
		      "ALTER TABLE processes DROP COLUMN title; DROP TABLE owners; PRAGMA "
		      "user_version=4");
	struct recording_reader *reader = open_reading(path);

	must(recording_reader_each_cost(reader, check_cost, &seen, &err), &err);
	assert_int_equal(seen, 1);
	recording_reader_close(reader);
}

static int check_process(void *context, const struct recording_process *row)
{
	assert_string_equal(row->name, "prog");
	assert_int_equal(row->exit_status, -1);
	assert_null(row->title);
	++*(unsigned *)context;
	return 0;
}

static void the_titles_of_version_5_are_unknown(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	const struct recording_process process = {
		.pid = 7, .name = "prog", .exit_status = -1, .title = "prog a.c"
	};
	struct error err = { "" };
	unsigned seen = 0;
	uint32_t id;

	assert_int_equal(recording_writer_add_process(writer, &process, &id), 0);
	finish(writer);
	run_sql(path, "ALTER TABLE processes DROP COLUMN title; DROP TABLE owners; PRAGMA "
		      "user_version=5");
	struct recording_reader *reader = open_reading(path);

	must(recording_reader_each_process(reader, check_process, &seen, &err), &err);
	assert_int_equal(seen, 1);
	recording_reader_close(reader);
}

static void version_3_has_its_tables(void **state)
{
	const char *path = in_folder(state, "a.fathom");

	finish(create(path));
	run_sql(path, "DROP TABLE codes");
	assert_refused(path, -EBADMSG, "damaged", "table codes is missing");
}

/* A newer table in a recording that says it is older is not one of ours. */
static void a_version_1_with_the_tables_of_2_is_damaged(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_reader *reader = NULL;
	struct error err = { "" };

	finish(create(path));
	run_sql(path, "PRAGMA user_version=1");
	assert_int_equal(recording_reader_open(path, &reader, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "table processes"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_version_1_did_not_have_is_unknown),
		TEST(symbols_can_be_added_to_version_1),
		TEST(the_pace_of_version_4_is_unknown),
		TEST(the_titles_of_version_5_are_unknown),
		TEST(tables_that_a_version_did_not_have_are_empty),
		TEST(symbols_can_be_added_to_version_2),
		TEST(version_3_has_its_tables),
		TEST(a_version_1_with_the_tables_of_2_is_damaged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
