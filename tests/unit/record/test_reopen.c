/* Symbols can be added to a recording that its recorder did not finish. */
#include "fixture.h"
#include "recorder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>
#include <sqlite3.h>

static void add_symbols(struct recording_writer *writer)
{
	struct recording_function function = { .module = 1, .name = "main", .file = "m.c" };
	struct recording_location location = { .frame = 1, .function = 1, .file = "n.c" };
	uint32_t id;

	assert_int_equal(recording_writer_add_function(writer, &function, &id), 0);
	assert_int_equal(id, 1);
	assert_int_equal(recording_writer_add_location(writer, &location), 0);
	assert_int_equal(recording_writer_set(writer, "symbolized", "1"), 0);
	assert_int_equal(recording_writer_tick(writer), 0);
}

static int check_symbol(void *context, const struct recording_location *row)
{
	++*(int *)context;
	assert_string_equal(row->file, "n.c");
	return 0;
}

static void symbols_can_be_added_to_a_killed_recording(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = NULL;
	struct error err = { "" };
	int seen = 0;

	leave_killed(path, 3);
	must(recording_writer_reopen(path, &writer, &err), &err);
	add_symbols(writer);
	finish(writer);
	struct recording_reader *reader = open_reading(path);
	assert_true(recording_reader_is_symbolized(reader));
	assert_false(recording_reader_is_finished(reader));
	assert_int_equal(count_samples(reader), 300);
	must(recording_reader_each_location(reader, check_symbol, &seen, &err), &err);
	assert_int_equal(seen, 1);
	recording_reader_close(reader);
}

static void half_symbols_of_a_killed_reader_are_replaced(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = NULL;
	struct error err = { "" };
	int seen = 0;

	leave_killed(path, 3);
	run_sql(path, "INSERT INTO functions VALUES(1,0,1,'x',0,0),(2,0,1,'y',0,0);"
		      "INSERT INTO locations VALUES(1,1,0,2,0,0,0)");
	must(recording_writer_reopen(path, &writer, &err), &err);
	add_symbols(writer);
	finish(writer);
	struct recording_reader *reader = open_reading(path);
	must(recording_reader_each_location(reader, check_symbol, &seen, &err), &err);
	assert_int_equal(seen, 1);
	recording_reader_close(reader);
}

static void a_recording_that_is_being_written_is_not_reopened(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recorder recorder = start_recorder(path, 1, true);
	struct recording_writer *writer = NULL;
	struct error err = { "" };

	assert_int_equal(wait_for_commits(&recorder, 1), 1);
	assert_int_equal(recording_writer_reopen(path, &writer, &err), -EBUSY);
	assert_non_null(strstr(err.text, "still being written"));
	assert_int_equal(end_recorder(&recorder), 0);
}

static void a_reopened_recording_takes_no_samples(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = NULL;
	struct error err = { "" };
	uint32_t id;

	leave_killed(path, 1);
	must(recording_writer_reopen(path, &writer, &err), &err);
	struct recording_sample sample = sample_of(0, RECORDER_THREADS, RECORDER_STACKS);
	assert_int_equal(recording_writer_add_sample(writer, &sample), -EINVAL);
	assert_int_equal(
		recording_writer_add_process(writer, &(struct recording_process){ 0 }, &id),
		-EINVAL);
	finish(writer);
}

static void assert_not_reopened(const char *path, int due, const char *word)
{
	struct recording_writer *writer = NULL;
	struct error err = { "" };

	assert_int_equal(recording_writer_reopen(path, &writer, &err), due);
	if (strstr(err.text, word) == NULL)
		fail_msg("'%s' lacks '%s'", err.text, word);
}

static void damage_is_not_added_to(void **state)
{
	const char *path = in_folder(state, "a.fathom");

	leave_killed(path, 1);
	run_sql(path, "INSERT INTO facts VALUES(5, 'five', 5)");
	assert_not_reopened(path, -EBADMSG, "its facts cannot be read");
	run_sql(path, "UPDATE stacks SET id=9000000000 WHERE id=40");
	assert_not_reopened(path, -EBADMSG, "the rows of stacks cannot be counted");
	run_sql(path, "DROP TABLE sums");
	assert_not_reopened(path, -EBADMSG, "table sums is missing");
}

static void one_that_another_program_reads_in_wal_mode_is_not_reopened(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	sqlite3 *db = NULL;

	leave_killed(path, 1);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN; SELECT * FROM stacks", NULL, NULL, NULL),
			 SQLITE_OK);
	assert_not_reopened(path, -EBUSY, "a.fathom");
	sqlite3_close(db);
}

static void a_reopener_that_is_killed_leaves_what_there_was(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	int status;

	leave_killed(path, 3);
	pid_t pid = fork();
	if (pid == 0) {
		struct recording_writer *writer = NULL;
		struct error err;
		uint32_t id;

		if (recording_writer_reopen(path, &writer, &err) < 0)
			_exit(1);
		recording_writer_add_function(writer,
					      &(struct recording_function){ .name = "x" }, &id);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status));
	struct recording_reader *reader = open_reading(path);
	assert_int_equal(count_samples(reader), 300);
	assert_false(recording_reader_is_symbolized(reader));
	recording_reader_close(reader);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(symbols_can_be_added_to_a_killed_recording),
		TEST(half_symbols_of_a_killed_reader_are_replaced),
		TEST(a_recording_that_is_being_written_is_not_reopened),
		TEST(a_reopened_recording_takes_no_samples),
		TEST(damage_is_not_added_to),
		TEST(one_that_another_program_reads_in_wal_mode_is_not_reopened),
		TEST(a_reopener_that_is_killed_leaves_what_there_was),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
