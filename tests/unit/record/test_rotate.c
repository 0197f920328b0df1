/* An older recording is kept, one that is being written is left alone, all else is refused. */
#include "fixture.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "record/rotate.h"

static void make(const char *path, uint64_t samples)
{
	struct recording_writer *writer = create(path);

	add_basics(writer, 1, 1);
	add_samples(writer, 0, samples, 1, 1);
	finish(writer);
}

/* Leaves a recording whose recorder was killed: its samples stand in the journal. */
static void make_killed(const char *path, uint64_t samples)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct recording_writer *writer = create(path);

		add_basics(writer, 1, 1);
		add_samples(writer, 0, samples, 1, 1);
		_exit(-recording_writer_commit(writer));
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void assert_holds(const char *path, uint64_t samples)
{
	struct recording_reader *reader = open_reading(path);

	assert_int_equal(count_samples(reader), samples);
	recording_reader_close(reader);
}

static void assert_rotates(const char *path, int rotation, const char *due)
{
	CLEANUP(freep) char *out = NULL;
	struct error err = { "" };
	int rc = recording_rotate(path, 77, &out, &err);

	must(rc, &err);
	assert_int_equal(rc, rotation);
	assert_string_equal(out, due);
}

static void assert_not_rotated(const char *path, int rc, const char *word)
{
	char *out = NULL;
	struct error err = { "" };

	assert_int_equal(recording_rotate(path, 77, &out, &err), rc);
	assert_null(out);
	if (strstr(err.text, word) == NULL)
		fail_msg("'%s' lacks '%s'", err.text, word);
}

static void a_free_path_is_taken(void **state)
{
	const char *path = in_folder(state, "profile.fathom");

	assert_rotates(path, RECORDING_ROTATION_FREE, path);
}

static void an_older_recording_is_kept(void **state)
{
	const char *path = in_folder(state, "profile.fathom");
	const char *old = in_folder(state, "profile.fathom.old");

	make(path, 5);
	assert_rotates(path, RECORDING_ROTATION_KEPT, path);
	assert_false(exists(path));
	assert_holds(old, 5);
	make(path, 6);
	assert_rotates(path, RECORDING_ROTATION_KEPT, path);
	assert_holds(old, 6);
}

static void a_killed_recording_takes_its_journal_in_before_it_moves(void **state)
{
	const char *path = in_folder(state, "profile.fathom");

	make_killed(path, 9);
	assert_true(exists(in_folder(state, "profile.fathom-wal")));
	assert_rotates(path, RECORDING_ROTATION_KEPT, path);
	assert_false(exists(in_folder(state, "profile.fathom-wal")));
	assert_false(exists(in_folder(state, "profile.fathom-shm")));
	assert_false(exists(in_folder(state, "profile.fathom.old-wal")));
	assert_holds(in_folder(state, "profile.fathom.old"), 9);
}

static void an_old_ones_leftover_journal_does_not_stay(void **state)
{
	const char *path = in_folder(state, "profile.fathom");
	const char *old = in_folder(state, "profile.fathom.old");

	make_killed(old, 4);
	make(path, 5);
	assert_rotates(path, RECORDING_ROTATION_KEPT, path);
	assert_false(exists(in_folder(state, "profile.fathom.old-wal")));
	assert_holds(old, 5);
}

static void a_damaged_recording_keeps_its_journal_beside_it(void **state)
{
	const char *path = in_folder(state, "profile.fathom");

	make_killed(path, 9);
	/* Half of the main file is gone, and a folder is where SQLite would work. */
	assert_int_equal(mkdir(in_folder(state, "profile.fathom-journal"), 0700), 0);
	assert_int_equal(truncate(path, 100), 0);
	assert_rotates(path, RECORDING_ROTATION_KEPT, path);
	assert_true(exists(in_folder(state, "profile.fathom.old")));
	assert_false(exists(path));
	assert_false(exists(in_folder(state, "profile.fathom-wal")));
}

static void one_that_is_being_written_is_left_alone(void **state)
{
	const char *path = in_folder(state, "profile.fathom");
	const char *other = in_folder(state, "profile.77.fathom");
	struct recording_writer *writer = create(path);
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		assert_rotates(path, RECORDING_ROTATION_AVOIDED, other);
		make(other, 3);
		/* Another with the same number finds that one finished. */
		assert_rotates(path, RECORDING_ROTATION_AVOIDED, other);
		assert_holds(in_folder(state, "profile.77.fathom.old"), 3);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_true(exists(path));
	add_basics(writer, 1, 1);
	finish(writer);
	assert_holds(path, 0);
}

static void when_both_names_are_being_written_another_is_asked_for(void **state)
{
	const char *path = in_folder(state, "profile.fathom");
	struct recording_writer *one = create(path);
	struct recording_writer *two = create(in_folder(state, "profile.77.fathom"));

	assert_not_rotated(path, -EBUSY, "are still being written; name another file");
	finish(one);
	finish(two);
}

static void an_old_one_that_is_being_written_is_left_alone(void **state)
{
	const char *path = in_folder(state, "profile.fathom");
	struct recording_writer *old = create(in_folder(state, "profile.fathom.old"));

	make(path, 2);
	assert_not_rotated(path, -EBUSY, "profile.fathom.old: is still being written");
	finish(old);
	assert_holds(path, 2);
}

static void a_folder_at_the_old_ones_place_is_refused(void **state)
{
	const char *path = in_folder(state, "profile.fathom");

	make(path, 2);
	assert_int_equal(mkdir(in_folder(state, "profile.fathom.old"), 0700), 0);
	assert_not_rotated(path, -EEXIST, "profile.fathom.old: is there and is not");
	assert_holds(path, 2);
}

static void the_other_name_keeps_another_extension(void **state)
{
	const char *path = in_folder(state, "x.data");
	struct recording_writer *writer = create(path);

	assert_rotates(path, RECORDING_ROTATION_AVOIDED, in_folder(state, "x.data.77.fathom"));
	finish(writer);
}

static void a_file_that_is_no_recording_is_refused_and_kept(void **state)
{
	const char *path = in_folder(state, "notes.txt");

	write_file(path, "precious", 8);
	assert_not_rotated(path, -EEXIST, "notes.txt: is there and is not a recording");
	assert_int_equal(size_of(path), 8);
	run_sql(in_folder(state, "other.db"), "CREATE TABLE t(a)");
	assert_not_rotated(in_folder(state, "other.db"), -EEXIST, "is not a recording");
	assert_not_rotated(in_folder(state, ""), -EEXIST, "is not a recording");
	assert_not_rotated("/dev/null", -EEXIST, "is not a recording");
}

static void a_foreign_file_at_the_old_ones_place_is_refused_and_kept(void **state)
{
	const char *path = in_folder(state, "profile.fathom");
	const char *old = in_folder(state, "profile.fathom.old");

	make(path, 5);
	write_file(old, "precious", 8);
	assert_not_rotated(path, -EEXIST,
			   "profile.fathom.old: is there and is not a recording");
	assert_int_equal(size_of(old), 8);
	assert_holds(path, 5);
}

static void an_empty_file_is_replaced(void **state)
{
	const char *path = in_folder(state, "profile.fathom");

	write_file(path, "", 0);
	assert_rotates(path, RECORDING_ROTATION_FREE, path);
	assert_false(exists(path));
	assert_false(exists(in_folder(state, "profile.fathom.old")));
}

static void a_newer_recording_is_kept_too(void **state)
{
	const char *path = in_folder(state, "profile.fathom");

	make(path, 5);
	run_sql(path, "PRAGMA user_version=9");
	assert_rotates(path, RECORDING_ROTATION_KEPT, path);
	assert_true(exists(in_folder(state, "profile.fathom.old")));
}

/* Root may write whatever the permissions say. */
static void assert_not_rotated_as_user(const char *path, const char *word)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		char *out = NULL;
		struct error err = { "" };

		if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
			_exit(90);
		int rc = recording_rotate(path, 77, &out, &err);
		_exit(rc == -EACCES && strstr(err.text, word) != NULL ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void a_folder_that_cannot_be_written_gets_a_sentence(void **state)
{
	const char *path = in_folder(state, "profile.fathom");
	const char *empty = in_folder(state, "empty.fathom");

	make(path, 5);
	write_file(empty, "", 0);
	chmod(path, 0444);
	chmod(empty, 0444);
	chmod(in_folder(state, ""), 0555);
	assert_not_rotated_as_user(path, "profile.fathom.old: Permission denied");
	assert_not_rotated_as_user(empty,
				   "empty.fathom: cannot be replaced: Permission denied");
}

static void a_links_target_is_what_moves(void **state)
{
	const char *path = in_folder(state, "real.fathom");
	const char *link = in_folder(state, "link.fathom");
	char resolved[PATH_MAX];

	make(path, 5);
	assert_int_equal(symlink(path, link), 0);
	assert_non_null(realpath(path, resolved));
	assert_rotates(link, RECORDING_ROTATION_KEPT, resolved);
	assert_false(exists(path));
	assert_holds(in_folder(state, "real.fathom.old"), 5);
}

static void recorders_that_begin_at_once_each_get_a_file(void **state)
{
	const char *path = in_folder(state, "profile.fathom");
	enum { COUNT = 8 };
	int all_began[2], has_one[2], all_have[2], status;

	make(path, 5);
	assert_int_equal(pipe(all_began), 0);
	assert_int_equal(pipe(has_one), 0);
	assert_int_equal(pipe(all_have), 0);
	for (int i = 0; i < COUNT; i++) {
		if (fork() != 0)
			continue;
		CLEANUP(freep) char *mine = NULL;
		struct recording_writer *writer = NULL;
		struct error err = { "" };
		int rc = -EEXIST;
		char byte;

		close(all_began[1]);
		close(all_have[1]);
		(void)!read(all_began[0], &byte, 1);
		for (int attempt = 0; attempt < 100 && rc == -EEXIST; attempt++) {
			free(mine);
			mine = NULL;
			rc = recording_rotate(path, getpid(), &mine, &err);
			if (rc >= 0)
				rc = recording_writer_create(mine, &writer, &err);
		}
		(void)!write(has_one[1], "", 1);
		must(rc, &err);
		/* Held until all have one. */
		(void)!read(all_have[0], &byte, 1);
		_exit(-recording_writer_close(writer, &err));
	}
	close(all_began[0]);
	close(all_began[1]);
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(read(has_one[0], &status, 1), 1);
	close(all_have[1]);
	for (int i = 0; i < COUNT; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	close(all_have[0]);
	close(has_one[0]);
	close(has_one[1]);
	assert_holds(in_folder(state, "profile.fathom.old"), 5);
	assert_holds(path, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_free_path_is_taken),
		TEST(an_older_recording_is_kept),
		TEST(a_killed_recording_takes_its_journal_in_before_it_moves),
		TEST(an_old_ones_leftover_journal_does_not_stay),
		TEST(a_damaged_recording_keeps_its_journal_beside_it),
		TEST(one_that_is_being_written_is_left_alone),
		TEST(when_both_names_are_being_written_another_is_asked_for),
		TEST(an_old_one_that_is_being_written_is_left_alone),
		TEST(a_folder_at_the_old_ones_place_is_refused),
		TEST(the_other_name_keeps_another_extension),
		TEST(a_file_that_is_no_recording_is_refused_and_kept),
		TEST(a_foreign_file_at_the_old_ones_place_is_refused_and_kept),
		TEST(an_empty_file_is_replaced),
		TEST(a_newer_recording_is_kept_too),
		TEST(a_folder_that_cannot_be_written_gets_a_sentence),
		TEST(a_links_target_is_what_moves),
		TEST(recorders_that_begin_at_once_each_get_a_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
