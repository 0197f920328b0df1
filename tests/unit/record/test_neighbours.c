/* Others that look at a recording are not in its recorder's way. */
#include "fixture.h"
#include "recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>
#include <sqlite3.h>

/* As a person with the sqlite3 program does that may write the folder. */
static int look(const char *path)
{
	sqlite3 *db = NULL;

	if (sqlite3_open(path, &db) != SQLITE_OK ||
	    sqlite3_exec(db, "SELECT count(*) FROM stacks", NULL, NULL, NULL) != SQLITE_OK)
		return 1;
	return sqlite3_close(db);
}

/* In a program of its own: a forked SQLite takes its parent's locks for its own. */
static void look_with_sqlite(const char *path)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/proc/self/exe", "test_states", "--look", path, (char *)NULL);
		_exit(2);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void a_reader_in_the_recorders_own_process_takes_no_locks_away(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);

	add_basics(writer, RECORDER_THREADS, RECORDER_STACKS);
	add_samples(writer, 0, 100, RECORDER_THREADS, RECORDER_STACKS);
	assert_int_equal(recording_writer_commit(writer), 0);
	for (int i = 0; i < 2; i++) {
		struct recording_reader *reader = open_reading(path);

		assert_true(recording_reader_is_being_written(reader));
		recording_reader_close(reader);
	}
	/* The last one to close would take the journal away. */
	look_with_sqlite(path);
	assert_true(exists(beside(state, "a.fathom", "-wal")));
	add_samples(writer, 100, 100, RECORDER_THREADS, RECORDER_STACKS);
	finish(writer);
	struct recording_reader *reader = open_reading(path);
	assert_false(recording_reader_is_being_written(reader));
	assert_int_equal(count_samples(reader), 200);
	recording_reader_close(reader);
}

static void a_look_with_sqlite_is_not_in_the_recorders_way(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recorder recorder = start_recorder(path, 100, true);

	assert_int_equal(wait_for_commits(&recorder, 10), 10);
	for (int i = 0; i < 10; i++)
		look_with_sqlite(path);
	assert_int_equal(wait_for_commits(&recorder, 90), 90);
	assert_int_equal(end_recorder(&recorder), 0);
	struct recording_reader *reader = open_reading(path);
	assert_int_equal(count_samples(reader), 10000);
	recording_reader_close(reader);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--look") == 0)
		return look(argv[2]);
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_reader_in_the_recorders_own_process_takes_no_locks_away),
		TEST(a_look_with_sqlite_is_not_in_the_recorders_way),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
