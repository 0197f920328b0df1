/* A recording is whole, up to the last commit, while it is written and after a kill. */
#include "fixture.h"
#include "recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"

static void a_clean_end_leaves_one_file(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recorder recorder = start_recorder(path, 3, true);

	assert_int_equal(end_recorder(&recorder), 0);
	assert_false(exists(beside(state, "a.fathom", "-wal")));
	assert_false(exists(beside(state, "a.fathom", "-shm")));
	assert_false(exists(beside(state, "a.fathom", "-journal")));
	struct recording_reader *reader = open_reading(path);
	assert_true(recording_reader_is_finished(reader));
	assert_int_equal(count_samples(reader), 300);
	assert_sums_agree(reader);
	recording_reader_close(reader);
}

static void a_running_recording_can_be_read(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recorder recorder = start_recorder(path, 5, true);

	assert_int_equal(wait_for_commits(&recorder, 5), 5);
	struct recording_reader *reader = open_reading(path);
	assert_false(recording_reader_is_finished(reader));
	assert_true(recording_reader_is_being_written(reader));
	assert_int_equal(count_samples(reader), 500);
	assert_sums_agree(reader);
	recording_reader_close(reader);
	assert_true(exists(beside(state, "a.fathom", "-wal")));
	assert_int_equal(end_recorder(&recorder), 0);
	assert_false(exists(beside(state, "a.fathom", "-wal")));
}

static void a_reader_sees_one_state_while_the_recorder_goes_on(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recorder recorder = start_recorder(path, 200, true);

	assert_int_equal(wait_for_commits(&recorder, 20), 20);
	struct recording_reader *reader = open_reading(path);
	uint64_t before = count_samples(reader);
	assert_true(before >= 2000);
	wait_for_commits(&recorder, 180);
	assert_int_equal(count_samples(reader), before);
	assert_sums_agree(reader);
	recording_reader_close(reader);
	assert_int_equal(end_recorder(&recorder), 0);
}

static void a_reader_that_outlives_the_recorder_tidies_up(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recorder recorder = start_recorder(path, 2, true);

	assert_int_equal(wait_for_commits(&recorder, 2), 2);
	struct recording_reader *reader = open_reading(path);
	assert_int_equal(end_recorder(&recorder), 0);
	assert_int_equal(count_samples(reader), 200);
	recording_reader_close(reader);
	assert_false(exists(beside(state, "a.fathom", "-wal")));
	assert_false(exists(beside(state, "a.fathom", "-shm")));
	reader = open_reading(path);
	assert_true(recording_reader_is_finished(reader));
	recording_reader_close(reader);
}

static void what_a_killed_recorder_committed_is_there(void **state)
{
	const char *path = in_folder(state, "a.fathom");

	leave_killed(path, 7);
	assert_true(exists(beside(state, "a.fathom", "-wal")));
	struct recording_reader *reader = open_reading(path);
	assert_false(recording_reader_is_finished(reader));
	assert_false(recording_reader_is_being_written(reader));
	assert_int_equal(count_samples(reader), 700);
	assert_sums_agree(reader);
	recording_reader_close(reader);
	assert_false(exists(beside(state, "a.fathom", "-wal")));
	assert_false(exists(beside(state, "a.fathom", "-shm")));
}

/* The moments are spread over a recorder's life by how long it is let run. */
static void killing_at_any_moment_leaves_what_was_committed(void **state)
{
	for (int i = 0; i < 60; i++) {
		CLEANUP(freep) char *name = xasprintf("%d.fathom", i);
		const char *path = in_folder(state, name);
		struct recorder recorder = start_recorder(path, 1000, false);
		int reported = wait_for_commits(&recorder, i * 3);

		usleep((unsigned)(i * 137 % 1000));
		reported += kill_recorder(&recorder);
		if (reported == 0)
			continue;
		struct recording_reader *reader = open_reading(path);
		uint64_t samples = count_samples(reader);
		/* The last commit may have been done and not been reported. */
		assert_true(samples == (uint64_t)reported * 100 ||
			    samples == ((uint64_t)reported + 1) * 100);
		assert_sums_agree(reader);
		recording_reader_close(reader);
	}
}

static void killing_at_the_beginning_leaves_a_sentence_or_a_recording(void **state)
{
	for (int i = 0; i < 40; i++) {
		CLEANUP(freep) char *name = xasprintf("%d.fathom", i);
		const char *path = in_folder(state, name);
		struct recorder recorder = start_recorder(path, 1, false);
		struct recording_reader *reader = NULL;
		struct error err = { "" };

		usleep((unsigned)i * 100);
		kill_recorder(&recorder);
		if (recording_reader_open(path, &reader, &err) < 0)
			assert_true(strlen(err.text) > 20);
		else
			assert_true(count_samples(reader) <= 100);
		recording_reader_close(reader);
	}
}

static void a_folder_where_wal_cannot_work_gets_a_rollback_journal(void **state)
{
	const char *path = in_folder(state, "a.fathom");

	/* A folder in the place of the shared memory: it cannot be made. */
	assert_int_equal(mkdir(beside(state, "a.fathom", "-shm"), 0700), 0);
	struct recording_writer *writer = create(path);
	assert_string_equal(recording_writer_journal_mode(writer), "rollback");
	add_basics(writer, RECORDER_THREADS, RECORDER_STACKS);
	add_samples(writer, 0, 100, RECORDER_THREADS, RECORDER_STACKS);
	finish(writer);
	struct recording_reader *reader = open_reading(path);
	assert_int_equal(count_samples(reader), 100);
	assert_true(recording_reader_is_finished(reader));
	recording_reader_close(reader);
}

static void wal_is_used_where_it_works(void **state)
{
	struct recording_writer *writer = create(in_folder(state, "a.fathom"));

	assert_string_equal(recording_writer_journal_mode(writer), "wal");
	finish(writer);
}

static void killed_with_a_rollback_journal_loses_nothing_committed(void **state)
{
	for (int i = 0; i < 15; i++) {
		CLEANUP(freep) char *name = xasprintf("%d.fathom", i);
		const char *path = in_folder(state, name);

		assert_int_equal(mkdir(beside(state, name, "-shm"), 0700), 0);
		struct recorder recorder = start_recorder(path, 1000, false);
		int reported = wait_for_commits(&recorder, 1 + i * 3);
		usleep((unsigned)(i * 137 % 1000));
		reported += kill_recorder(&recorder);
		struct recording_reader *reader = open_reading(path);
		uint64_t samples = count_samples(reader);
		assert_true(samples == (uint64_t)reported * 100 ||
			    samples == ((uint64_t)reported + 1) * 100);
		assert_sums_agree(reader);
		recording_reader_close(reader);
	}
}

static void a_running_recording_with_a_rollback_journal_can_be_read(void **state)
{
	const char *path = in_folder(state, "a.fathom");

	assert_int_equal(mkdir(beside(state, "a.fathom", "-shm"), 0700), 0);
	struct recorder recorder = start_recorder(path, 50, true);
	assert_int_equal(wait_for_commits(&recorder, 10), 10);
	struct recording_reader *reader = open_reading(path);
	assert_true(recording_reader_is_being_written(reader));
	assert_true(count_samples(reader) >= 1000);
	assert_sums_agree(reader);
	/* The reader is still open, and not in the recorder's way. */
	assert_int_equal(wait_for_commits(&recorder, 40), 40);
	assert_int_equal(end_recorder(&recorder), 0);
	recording_reader_close(reader);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_clean_end_leaves_one_file),
		TEST(a_running_recording_can_be_read),
		TEST(a_reader_sees_one_state_while_the_recorder_goes_on),
		TEST(a_reader_that_outlives_the_recorder_tidies_up),
		TEST(what_a_killed_recorder_committed_is_there),
		TEST(killing_at_any_moment_leaves_what_was_committed),
		TEST(killing_at_the_beginning_leaves_a_sentence_or_a_recording),
		TEST(a_folder_where_wal_cannot_work_gets_a_rollback_journal),
		TEST(wal_is_used_where_it_works),
		TEST(killed_with_a_rollback_journal_loses_nothing_committed),
		TEST(a_running_recording_with_a_rollback_journal_can_be_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
