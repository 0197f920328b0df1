/* A recording is whole, up to the last commit, in whatever state it was left. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/memory.h"

#define THREADS 3
#define STACKS  40

static const char *beside(void **state, const char *name, const char *suffix)
{
	CLEANUP(freep) char *file = xasprintf("%s%s", name, suffix);

	return in_folder(state, file);
}

/* Without cmocka's longjmp, which would return into the parent's tests. */
static void add_in_child(struct recording_writer *writer, uint64_t first, uint64_t count)
{
	for (uint64_t i = first; i < first + count; i++) {
		struct recording_sample sample = sample_of(i, THREADS, STACKS);

		if (recording_writer_add_sample(writer, &sample) < 0)
			_exit(3);
	}
}

/*
 * A recorder in a process of its own.  It commits a hundred samples at a time and says so
 * through the pipe; with close_it it ends well after the last commit, else it waits.
 */
struct recorder {
	pid_t pid;
	int committed; /* one byte for each commit */
	int go_on;     /* closed: go on */
};

static void record_in_child(const char *path, int commits, int committed, int go_on,
			    bool close_it)
{
	struct recording_writer *writer;
	struct error err;
	char byte = 0;

	if (recording_writer_create(path, &writer, &err) < 0)
		_exit(2);
	add_basics(writer, THREADS, STACKS);
	for (int i = 0; i < commits; i++) {
		add_in_child(writer, (uint64_t)i * 100, 100);
		if (recording_writer_commit(writer) < 0 || write(committed, &byte, 1) != 1)
			_exit(4);
	}
	if (read(go_on, &byte, 1) < 0)
		_exit(5);
	_exit(close_it ? -recording_writer_close(writer, &err) : 0);
}

static struct recorder start_recorder(const char *path, int commits, bool close_it)
{
	int committed[2], go_on[2];

	assert_int_equal(pipe2(committed, O_CLOEXEC), 0);
	assert_int_equal(pipe2(go_on, O_CLOEXEC), 0);
	pid_t pid = fork();

	if (pid == 0) {
		close(go_on[1]);
		record_in_child(path, commits, committed[1], go_on[0], close_it);
	}
	close(committed[1]);
	close(go_on[0]);
	return (struct recorder){ .pid = pid, .committed = committed[0], .go_on = go_on[1] };
}

static int wait_for_commits(const struct recorder *recorder, int count)
{
	char byte;
	int seen = 0;

	while (seen < count && read(recorder->committed, &byte, 1) == 1)
		seen++;
	return seen;
}

static int end_recorder(struct recorder *recorder)
{
	int status = -1;

	close(recorder->go_on);
	waitpid(recorder->pid, &status, 0);
	close(recorder->committed);
	return status;
}

/* Kills it and returns the commits that were told and not yet counted. */
static int kill_recorder(struct recorder *recorder)
{
	kill(recorder->pid, SIGKILL);
	int rest = wait_for_commits(recorder, INT32_MAX);

	end_recorder(recorder);
	return rest;
}

static void leave_killed(const char *path, int commits)
{
	struct recorder recorder = start_recorder(path, commits, false);

	assert_int_equal(wait_for_commits(&recorder, commits), commits);
	kill_recorder(&recorder);
}

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
		int told = wait_for_commits(&recorder, i * 3);

		usleep((unsigned)(i * 137 % 1000));
		told += kill_recorder(&recorder);
		if (told == 0)
			continue;
		struct recording_reader *reader = open_reading(path);
		uint64_t samples = count_samples(reader);
		/* The last commit may have been done and not been told. */
		assert_true(samples == (uint64_t)told * 100 ||
			    samples == ((uint64_t)told + 1) * 100);
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
	add_basics(writer, THREADS, STACKS);
	add_samples(writer, 0, 100, THREADS, STACKS);
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
		int told = wait_for_commits(&recorder, 1 + i * 3);
		usleep((unsigned)(i * 137 % 1000));
		told += kill_recorder(&recorder);
		struct recording_reader *reader = open_reading(path);
		uint64_t samples = count_samples(reader);
		assert_true(samples == (uint64_t)told * 100 ||
			    samples == ((uint64_t)told + 1) * 100);
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

/* In a child without the rights to write: in root's hands nothing else is read-only. */
static void read_as_nobody(const char *path, uint64_t due)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		struct recording_reader *reader = NULL;
		struct error err = { "" };

		if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
			_exit(90);
		int rc = recording_reader_open(path, &reader, &err);
		if (rc < 0) {
			fprintf(stderr, "%s\n", err.text);
			_exit(1);
		}
		bool is_right = count_samples(reader) == due;
		recording_reader_close(reader);
		_exit(is_right ? 0 : 2);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void lock_folder(void **state)
{
	const char *folder = in_folder(state, "");

	assert_int_equal(chmod(folder, 0555), 0);
}

static void a_finished_recording_reads_where_nothing_can_be_written(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recorder recorder = start_recorder(path, 4, true);

	assert_int_equal(end_recorder(&recorder), 0);
	chmod(path, 0444);
	lock_folder(state);
	read_as_nobody(path, 400);
	assert_false(exists(beside(state, "a.fathom", "-wal")));
}

static void a_killed_one_reads_through_its_journal_where_nothing_can_be_written(void **state)
{
	const char *path = in_folder(state, "a.fathom");

	leave_killed(path, 4);
	chmod(path, 0444);
	chmod(beside(state, "a.fathom", "-wal"), 0444);
	unlink(beside(state, "a.fathom", "-shm"));
	lock_folder(state);
	read_as_nobody(path, 400);
	assert_true(exists(beside(state, "a.fathom", "-wal")));
	assert_false(exists(beside(state, "a.fathom", "-shm")));
}

static void a_killed_one_reads_so_with_its_shared_memory_there_too(void **state)
{
	const char *path = in_folder(state, "a.fathom");

	leave_killed(path, 4);
	chmod(path, 0444);
	chmod(beside(state, "a.fathom", "-wal"), 0444);
	chmod(beside(state, "a.fathom", "-shm"), 0444);
	lock_folder(state);
	read_as_nobody(path, 400);
}

static void a_running_one_reads_where_nothing_can_be_written(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recorder recorder = start_recorder(path, 4, true);

	assert_int_equal(wait_for_commits(&recorder, 4), 4);
	chmod(path, 0444);
	chmod(beside(state, "a.fathom", "-wal"), 0444);
	chmod(beside(state, "a.fathom", "-shm"), 0444);
	chmod(in_folder(state, ""), 0555);
	read_as_nobody(path, 400);
	chmod(in_folder(state, ""), 0700);
	assert_int_equal(end_recorder(&recorder), 0);
}

static void other_bytes_in_its_name_do_no_harm(void **state)
{
	static const char *const names[] = { "a b.fathom", "%41?mode=ro#x.fathom", ":memory:",
					     "file:x",     "\xff\xfe.fathom",      "-" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *path = in_folder(state, names[i]);

		leave_killed(path, 2);
		struct recording_reader *reader = open_reading(path);
		assert_int_equal(count_samples(reader), 200);
		recording_reader_close(reader);
	}
}

static void a_relative_name_is_a_file_in_this_folder(void **state)
{
	int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(chdir(in_folder(state, "")), 0);
	finish(create(":memory:"));
	assert_true(exists(in_folder(state, ":memory:")));
	recording_reader_close(open_reading(":memory:"));
	assert_int_equal(fchdir(here), 0);
	close(here);
}

static void a_link_to_a_killed_recording_finds_its_journal(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	const char *link = in_folder(state, "link.fathom");

	leave_killed(path, 2);
	assert_int_equal(symlink(path, link), 0);
	struct recording_reader *reader = open_reading(link);
	assert_int_equal(count_samples(reader), 200);
	recording_reader_close(reader);
}

static void a_recording_is_never_made_over_another_file(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = NULL;
	struct error err = { "" };

	write_file(path, "precious", 8);
	assert_int_equal(recording_writer_create(path, &writer, &err), -EEXIST);
	assert_non_null(strstr(err.text, "is there already"));
	assert_int_equal(size_of(path), 8);
}

static void a_recording_is_never_made_beside_anothers_journal(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = NULL;
	struct error err = { "" };

	write_file(beside(state, "a.fathom", "-wal"), "precious", 8);
	assert_int_equal(recording_writer_create(path, &writer, &err), -EEXIST);
	assert_non_null(strstr(err.text, "a.fathom-wal"));
	assert_int_equal(size_of(beside(state, "a.fathom", "-wal")), 8);
	assert_false(exists(path));
}

static void a_folder_that_is_not_there_gets_a_sentence(void **state)
{
	struct recording_writer *writer = NULL;
	struct error err = { "" };

	assert_int_equal(
		recording_writer_create(in_folder(state, "no/a.fathom"), &writer, &err),
		-ENOENT);
	assert_non_null(strstr(err.text, "no/a.fathom: cannot be made: No such file"));
}

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

static void half_symbols_of_somebody_killed_are_replaced(void **state)
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
	struct recording_sample sample = sample_of(0, THREADS, STACKS);
	assert_int_equal(recording_writer_add_sample(writer, &sample), -EINVAL);
	assert_int_equal(
		recording_writer_add_process(writer, &(struct recording_process){ 0 }, &id),
		-EINVAL);
	finish(writer);
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
		TEST(a_finished_recording_reads_where_nothing_can_be_written),
		TEST(a_killed_one_reads_through_its_journal_where_nothing_can_be_written),
		TEST(a_killed_one_reads_so_with_its_shared_memory_there_too),
		TEST(a_running_one_reads_where_nothing_can_be_written),
		TEST(other_bytes_in_its_name_do_no_harm),
		TEST(a_relative_name_is_a_file_in_this_folder),
		TEST(a_link_to_a_killed_recording_finds_its_journal),
		TEST(a_recording_is_never_made_over_another_file),
		TEST(a_recording_is_never_made_beside_anothers_journal),
		TEST(a_folder_that_is_not_there_gets_a_sentence),
		TEST(symbols_can_be_added_to_a_killed_recording),
		TEST(half_symbols_of_somebody_killed_are_replaced),
		TEST(a_recording_that_is_being_written_is_not_reopened),
		TEST(a_reopened_recording_takes_no_samples),
		TEST(a_reopener_that_is_killed_leaves_what_there_was),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
