/* Recordings are made and read wherever they lie and whatever they are called. */
#include "fixture.h"
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

/* Opens as a user that may not write: root may write whatever the permissions say. */
static int open_as_user(const char *path, struct recording_reader **out_reader,
			struct error *err)
{
	if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
		_exit(90);
	return recording_reader_open(path, out_reader, err);
}

static void assert_ends_well(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void read_as_user(const char *path, uint64_t due)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct recording_reader *reader = NULL;
		struct error err = { "" };

		if (open_as_user(path, &reader, &err) < 0) {
			fprintf(stderr, "%s\n", err.text);
			_exit(1);
		}
		bool is_right = count_samples(reader) == due;
		recording_reader_close(reader);
		_exit(is_right ? 0 : 2);
	}
	assert_ends_well(pid);
}

static void assert_refused_as_user(const char *path, int due, const char *word)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct recording_reader *reader = NULL;
		struct error err = { "" };
		int rc = open_as_user(path, &reader, &err);

		if (rc == due && strstr(err.text, word) != NULL)
			_exit(0);
		fprintf(stderr, "%d '%s' lacks '%s'\n", rc, err.text, word);
		_exit(1);
	}
	assert_ends_well(pid);
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
	read_as_user(path, 400);
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
	read_as_user(path, 400);
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
	read_as_user(path, 400);
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
	read_as_user(path, 400);
	chmod(in_folder(state, ""), 0700);
	assert_int_equal(end_recorder(&recorder), 0);
}

/* A commit with a rollback journal that was cut off half way, as it lies on the disk then. */
static const char *leave_torn(void **state)
{
	const char *path = in_folder(state, "whole.fathom");
	const char *torn = in_folder(state, "torn.fathom");
	struct recorder recorder = start_recorder(path, 30, true);
	sqlite3 *db = NULL;

	assert_int_equal(end_recorder(&recorder), 0);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				      "PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN; "
				      "UPDATE sample_rows SET stack=0",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	copy_file(path, torn, LONG_MAX);
	copy_file(beside(state, "whole.fathom", "-journal"),
		  beside(state, "torn.fathom", "-journal"), LONG_MAX);
	sqlite3_close(db);
	return torn;
}

static void a_commit_cut_off_half_way_is_taken_back(void **state)
{
	const char *path = leave_torn(state);
	struct recording_reader *reader = open_reading(path);

	assert_int_equal(count_samples(reader), 3000);
	assert_sums_agree(reader);
	recording_reader_close(reader);
	assert_false(exists(beside(state, "torn.fathom", "-journal")));
}

static void where_nothing_can_be_written_its_journal_is_asked_for(void **state)
{
	const char *path = leave_torn(state);

	chmod(path, 0444);
	lock_folder(state);
	assert_refused_as_user(path, -EROFS, "torn.fathom-journal; copy both");
}

static void one_that_may_not_be_read_gets_a_sentence(void **state)
{
	const char *path = in_folder(state, "a.fathom");

	leave_killed(path, 1);
	chmod(path, 0);
	chmod(in_folder(state, ""), 0755);
	assert_refused_as_user(path, -EACCES, "cannot be read: Permission denied");
	chmod(path, 0600);
}

static void a_folder_that_takes_no_journal_gets_a_sentence(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = NULL;
	struct error err = { "" };

	assert_int_equal(mkdir(beside(state, "a.fathom", "-journal"), 0700), 0);
	assert_true(recording_writer_create(path, &writer, &err) < 0);
	assert_non_null(strstr(err.text, "a.fathom: cannot be made"));
	assert_false(exists(path));
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

static unsigned mode_of(const char *path)
{
	struct stat about;

	assert_int_equal(stat(path, &about), 0);
	return about.st_mode & 07777;
}

static void a_recording_is_its_owners_alone_whatever_the_umask(void **state)
{
	static const mode_t umasks[] = { 0, 022, 0277, 0777 };

	for (size_t i = 0; i < sizeof umasks / sizeof *umasks; i++) {
		const char *path = in_folder(state, "a.fathom");
		mode_t before = umask(umasks[i]);
		struct recording_writer *writer = create(path);

		add_basics(writer, 1, 1);
		add_samples(writer, 0, 100, 1, 1);
		assert_int_equal(recording_writer_commit(writer), 0);
		assert_int_equal(mode_of(path), 0600);
		assert_int_equal(mode_of(beside(state, "a.fathom", "-wal")), 0600);
		assert_int_equal(mode_of(beside(state, "a.fathom", "-shm")), 0600);
		finish(writer);
		umask(before);
		assert_int_equal(mode_of(path), 0600);
		unlink(path);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_finished_recording_reads_where_nothing_can_be_written),
		TEST(a_killed_one_reads_through_its_journal_where_nothing_can_be_written),
		TEST(a_killed_one_reads_so_with_its_shared_memory_there_too),
		TEST(a_running_one_reads_where_nothing_can_be_written),
		TEST(a_commit_cut_off_half_way_is_taken_back),
		TEST(where_nothing_can_be_written_its_journal_is_asked_for),
		TEST(one_that_may_not_be_read_gets_a_sentence),
		TEST(a_folder_that_takes_no_journal_gets_a_sentence),
		TEST(other_bytes_in_its_name_do_no_harm),
		TEST(a_relative_name_is_a_file_in_this_folder),
		TEST(a_link_to_a_killed_recording_finds_its_journal),
		TEST(a_recording_is_never_made_over_another_file),
		TEST(a_recording_is_never_made_beside_anothers_journal),
		TEST(a_folder_that_is_not_there_gets_a_sentence),
		TEST(a_recording_is_its_owners_alone_whatever_the_umask),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
