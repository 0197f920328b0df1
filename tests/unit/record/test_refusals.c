/* What is not a sound recording gets one sentence: what, where, why, how to get further. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "record/journal.h"
#include "record/lock.h"

static void a_missing_file_gets_a_sentence(void **state)
{
	assert_refused(in_folder(state, "no.fathom"), -ENOENT, "no.fathom", "No such file");
}

static void an_empty_file_gets_a_sentence(void **state)
{
	const char *path = in_folder(state, "a.fathom");

	write_file(path, "", 0);
	assert_refused(path, -ENODATA, "a.fathom: empty", "record again");
}

static void one_that_has_only_just_begun_gets_a_sentence(void **state)
{
	const char *path = in_folder(state, "a.fathom");

	write_file(path, "", 0);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(lock_take(fd), 0);
	assert_refused(path, -EAGAIN, "only just begun", "try again");
	lock_close(fd);
}

static void a_folder_gets_a_sentence(void **state)
{
	assert_refused(in_folder(state, ""), -ENOEXEC, "a folder", "fathom record");
}

static void a_pipe_gets_a_sentence_and_does_not_hang(void **state)
{
	const char *path = in_folder(state, "pipe");

	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused(path, -ENOEXEC, "a special file", "fathom record");
}

static void foreign_bytes_get_a_sentence(void **state)
{
	const char *path = in_folder(state, "a.fathom");

	write_file(path, "\177ELF and more", 13);
	assert_refused(path, -ENOEXEC, "not a recording", "fathom record");
	write_file(path, "S", 1);
	assert_refused(path, -EBADMSG, "cut short", "copy it again");
}

static void another_programs_database_gets_a_sentence(void **state)
{
	const char *path = in_folder(state, "a.fathom");

	run_sql(path, "CREATE TABLE t(a)");
	assert_refused(path, -ENOEXEC, "another program", "application id");
}

static const char *make_finished(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);

	add_basics(writer, 2, 30);
	add_samples(writer, 0, 3000, 2, 30);
	finish(writer);
	return path;
}

static void a_newer_recording_gets_a_sentence(void **state)
{
	const char *path = make_finished(state);

	run_sql(path, "PRAGMA user_version=9");
	assert_refused(path, -EPROTONOSUPPORT, "newer fathom", "schema version 9");
}

static void a_version_that_never_was_gets_a_sentence(void **state)
{
	const char *path = make_finished(state);

	run_sql(path, "PRAGMA user_version=0");
	assert_refused(path, -EBADMSG, "damaged", "copy it again");
}

static void a_recording_cut_short_anywhere_gets_a_sentence(void **state)
{
	const char *path = make_finished(state);
	const char *cut = in_folder(state, "cut.fathom");

	for (long len = 1; len < size_of(path); len += len < 200 ? 7 : 1111) {
		copy_file(path, cut, len);
		assert_refused(cut, -EBADMSG, "cut.fathom", "cut short");
	}
}

static int ignore_sample(void *context, const struct recording_sample *row)
{
	(void)context;
	(void)row;
	return 0;
}

#define IGNORE(type)                                                                \
	static int ignore_##type(void *context, const struct recording_##type *row) \
	{                                                                           \
		(void)context;                                                      \
		(void)row;                                                          \
		return 0;                                                           \
	}
IGNORE(process)
IGNORE(thread)
IGNORE(module)
IGNORE(mapping)
IGNORE(frame)
IGNORE(function)
IGNORE(location)
IGNORE(sum)
IGNORE(file)
#undef IGNORE

static int check_stack(void *context, const struct recording_stack *row)
{
	(void)context;
	assert_true(row->parent < row->id);
	return 0;
}

static int ignore_ending(void *context, uint32_t ending, uint64_t samples)
{
	(void)context;
	(void)ending;
	(void)samples;
	return 0;
}

static int ignore_lost(void *context, const char *reason, uint64_t samples)
{
	(void)context;
	(void)samples;
	assert_non_null(reason);
	return 0;
}

static int ignore_note(void *context, const char *text)
{
	(void)context;
	assert_non_null(text);
	return 0;
}

/* The first failure of opening and reading all, or 0. */
static int ignore_calls(void *context, const struct recording_calls *row)
{
	(void)context;
	(void)row;
	return 0;
}

static int ignore_cost(void *context, const struct recording_cost *row)
{
	(void)context;
	(void)row;
	return 0;
}

static int read_all(const char *path, struct error *err)
{
	CLEANUP(recording_reader_closep) struct recording_reader *reader = NULL;
	int rc = recording_reader_open(path, &reader, err);

	if (rc < 0)
		return rc;
	rc = recording_reader_each_process(reader, ignore_process, NULL, err);
	rc = rc < 0 ? rc : recording_reader_each_thread(reader, ignore_thread, NULL, err);
	rc = rc < 0 ? rc : recording_reader_each_module(reader, ignore_module, NULL, err);
	rc = rc < 0 ? rc : recording_reader_each_mapping(reader, ignore_mapping, NULL, err);
	rc = rc < 0 ? rc : recording_reader_each_frame(reader, ignore_frame, NULL, err);
	rc = rc < 0 ? rc : recording_reader_each_stack(reader, check_stack, NULL, err);
	rc = rc < 0 ? rc : recording_reader_each_function(reader, ignore_function, NULL, err);
	rc = rc < 0 ? rc : recording_reader_each_location(reader, ignore_location, NULL, err);
	rc = rc < 0 ? rc : recording_reader_each_file(reader, ignore_file, NULL, err);
	rc = rc < 0 ? rc : recording_reader_each_lost(reader, ignore_lost, NULL, err);
	rc = rc < 0 ? rc : recording_reader_each_note(reader, ignore_note, NULL, err);
	rc = rc < 0 ? rc : recording_reader_each_sum(reader, ignore_sum, NULL, err);
	rc = rc < 0 ? rc : recording_reader_each_ending(reader, ignore_ending, NULL, err);
	rc = rc < 0 ? rc : recording_reader_each_calls(reader, ignore_calls, NULL, err);
	rc = rc < 0 ? rc : recording_reader_each_cost(reader, ignore_cost, NULL, err);
	return rc < 0 ? rc : recording_reader_each_sample(reader, ignore_sample, NULL, err);
}

/* Each statement makes one thing wrong; the sentence names it. */
static const struct {
	const char *sql, *word;
} damages[] = {
	{ "DROP TABLE stacks", "table stacks is missing" },
	{ "DROP TABLE stacks; CREATE VIEW stacks AS SELECT 1 AS id, 0 AS parent, 1 AS frame",
	  "table stacks is missing" },
	{ "ALTER TABLE sums ADD COLUMN more", "table sums is missing or is not" },
	{ "UPDATE stacks SET parent=30 WHERE id=2",
	  "row 2 of stacks has callers that come after" },
	{ "UPDATE stacks SET parent=2 WHERE id=2",
	  "row 2 of stacks has callers that come after" },
	{ "UPDATE stacks SET parent=99 WHERE id=2", "row 2 of stacks refers to a row" },
	{ "UPDATE stacks SET frame=-1 WHERE id=2", "row 2 of stacks" },
	{ "UPDATE stacks SET frame='x' WHERE id=2", "row 2 of stacks holds something else" },
	{ "UPDATE stacks SET frame=NULL WHERE id=2", "row 2 of stacks holds something else" },
	{ "DELETE FROM stacks WHERE id=5", "stacks: a row is missing" },
	{ "UPDATE stacks SET id=9000000000 WHERE id=30", "rows of stacks cannot be counted" },
	{ "UPDATE stacks SET id=-3 WHERE id=1", "stacks: a row is missing" },
	{ "UPDATE frames SET module=7 WHERE id=1", "row 1 of frames refers to a row" },
	{ "UPDATE threads SET process=3 WHERE id=1", "row 1 of threads refers to a row" },
	{ "UPDATE threads SET process=0 WHERE id=2", "row 2 of threads has no process" },
	{ "UPDATE modules SET kind=77", "row 1 of modules has an unknown kind" },
	{ "UPDATE modules SET build_id=zeroblob(21)", "row 1 of modules has a build id" },
	{ "UPDATE sample_rows SET thread=3 WHERE id=9",
	  "row 9 of sample_rows refers to a row" },
	{ "UPDATE sample_rows SET thread=0 WHERE id=9", "row 9 of sample_rows has no thread" },
	{ "UPDATE sample_rows SET stack=31 WHERE id=9",
	  "row 9 of sample_rows refers to a row" },
	{ "UPDATE sample_rows SET how=99999 WHERE id=9",
	  "row 9 of sample_rows has an unknown ending" },
	{ "UPDATE sample_rows SET weight=-5 WHERE id=9",
	  "row 9 of sample_rows has an impossible weight" },
	{ "UPDATE sample_rows SET time=9223372036854775807 WHERE id=9; "
	  "UPDATE batches SET base_ns=9",
	  "row 9 of sample_rows has an impossible time" },
	{ "UPDATE processes SET sample_weight_ns=NULL",
	  "row 2 of sample_rows has an impossible weight" },
	{ "DELETE FROM batches", "row 1 of sample_rows belongs to no batch" },
	{ "DELETE FROM sample_rows WHERE id=10", "sample_rows: a row is missing" },
	{ "DELETE FROM sample_rows WHERE id=3000", "row 1 of intervals refers to a row" },
	{ "UPDATE sums SET interval=2 WHERE id=4", "row 4 of sums refers to a row" },
	{ "UPDATE sums SET stack=31 WHERE id=4", "row 4 of sums refers to a row" },
	{ "UPDATE sums SET state=16 WHERE id=4", "row 4 of sums cannot be" },
	{ "UPDATE sums SET weight_ns=9223372036854775807; UPDATE sums SET thread=1, stack=1, "
	  "state=0",
	  "weights are impossible" },
	{ "UPDATE sums SET samples=samples+1 WHERE id=4", "sums do not agree" },
	{ "DELETE FROM intervals", "row 1 of sums refers to a row" },
	{ "UPDATE intervals SET first_sample=0", "row 1 of intervals covers" },
	{ "UPDATE intervals SET last_sample=0", "row 1 of intervals covers" },
	{ "INSERT INTO intervals SELECT 2, 1, 5, 0, 0", "row 2 of intervals covers" },
	{ "UPDATE endings SET ending=256 WHERE id=1",
	  "row 1 of endings has an unknown ending" },
	{ "INSERT INTO functions VALUES(1, 0, 0, NULL, 0, 0)",
	  "row 1 of functions has no name" },
	{ "INSERT INTO functions VALUES(1, 0, 0, 'x', 1, 0)",
	  "row 1 of functions refers to a row" },
	{ "INSERT INTO functions VALUES(1, 0, 0, 'x', 0, 4294967296)",
	  "number that is too large" },
	{ "INSERT INTO sources VALUES(1, NULL); INSERT INTO functions VALUES(1,0,0,'x',1,0)",
	  "row 1 of sources has no path" },
	{ "INSERT INTO locations VALUES(1, 1, 0, 1, 0, 0, 0)",
	  "row 1 of locations refers to a row" },
	{ "INSERT INTO mappings VALUES(1, 9, 1, 0, 0, 0, 0, 0)",
	  "row 1 of mappings refers to a row" },
	{ "INSERT INTO calls VALUES(1, 0, 1, 5, 9, NULL, NULL, 1, 0, 0, 0, 0, 0)",
	  "row 1 of calls cannot be" },
	{ "INSERT INTO calls VALUES(1, 1, 99, 5, 9, NULL, NULL, 1, 0, 0, 0, 0, 0)",
	  "row 1 of calls refers to a row" },
	{ "INSERT INTO calls VALUES(1, 1, 1, -5, 9, NULL, NULL, 1, 0, 0, 0, 0, 0)",
	  "row 1 of calls cannot be" },
	{ "INSERT INTO calls VALUES(1, 1, 1, 5, -9, NULL, NULL, 1, 0, 0, 0, 0, 0)",
	  "row 1 of calls cannot be" },
	{ "INSERT INTO calls VALUES(1, 1, 1, 5, 9, 3, 2, 1, 0, 0, 0, 0, 0)",
	  "row 1 of calls cannot be" },
	{ "INSERT INTO calls VALUES(1, 1, 1, 5, 9, 3, NULL, 1, 0, 0, 0, 0, 0)",
	  "row 1 of calls cannot be" },
	{ "INSERT INTO calls VALUES(1, 1, 1, 5, 9, 1, 2, 1, -1, 0, 0, 0, 0)",
	  "row 1 of calls cannot be" },
	{ "INSERT INTO calls VALUES(1, 1, 1, 5, 9, 1, 2, 1, 0, 0, 0, -1, 0)",
	  "row 1 of calls cannot be" },
	{ "INSERT INTO calls VALUES(1, 1, 1, 1 << 60, 9, 1, 2, 1, 0, 0, 0, 0, 0); "
	  "INSERT INTO calls VALUES(2, 1, 2, 1, 9, 1, 2, 1, 0, 0, 0, 0, 0)",
	  "row 2 of calls cannot be" },
	{ "INSERT INTO calls VALUES(1, 1, 1, 5, 1 << 60, 1, 2, 1, 0, 0, 0, 0, 0); "
	  "INSERT INTO calls VALUES(2, 1, 2, 1, 9, 1, 2, 1, 0, 0, 0, 0, 0)",
	  "row 2 of calls cannot be" },
	{ "INSERT INTO costs VALUES(1, 1, 1, 1 << 60, 0, 0, 0, 0, 1000, NULL)",
	  "row 1 of costs cannot be" },
	{ "INSERT INTO costs VALUES(1, 1, 1, 0, 0, 0, 0, 0, 1000, 0)",
	  "row 1 of costs cannot be" },
	{ "INSERT INTO files VALUES(1, 0, NULL, 'x')", "row 1 of files has no name" },
	{ "INSERT INTO lost VALUES(1, NULL, 5)", "row 1 of lost has no reason" },
	{ "INSERT INTO notes VALUES(1, NULL)", "row 1 of notes has no text" },
	{ "INSERT INTO facts VALUES(2, NULL, 5)", "row 2 of facts has no key" },
};

static void damage_of_every_kind_gets_a_sentence(void **state)
{
	const char *path = make_finished(state);
	const char *copy = in_folder(state, "copy.fathom");

	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		struct error err = { "" };

		copy_file(path, copy, LONG_MAX);
		run_sql(copy, damages[i].sql);
		int rc = read_all(copy, &err);
		if (rc != -EBADMSG || strstr(err.text, damages[i].word) == NULL ||
		    strstr(err.text, "copy.fathom: damaged: ") == NULL)
			fail_msg("%s: %d '%s'", damages[i].sql, rc, err.text);
	}
}

/* What people add to explore is not damage. */
static void an_index_a_table_and_a_view_may_be_added(void **state)
{
	const char *path = make_finished(state);
	struct recording_writer *writer = NULL;
	struct error err = { "" };

	run_sql(path, "CREATE INDEX mine ON sample_rows(stack); CREATE TABLE my_table(a); "
		      "CREATE VIEW my_view AS SELECT 1; "
		      "CREATE TRIGGER mine2 AFTER INSERT ON facts BEGIN SELECT 1; END");
	must(read_all(path, &err), &err);
	assert_int_equal(recording_writer_reopen(path, &writer, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "indexes or triggers"));
}

static void damaged_pages_never_do_harm(void **state)
{
	const char *path = make_finished(state);
	const char *copy = in_folder(state, "copy.fathom");
	long size = size_of(path);
	CLEANUP(freep) char *bytes = xmalloc((size_t)size);
	FILE *file = fopen(path, "rb");
	unsigned refused = 0;

	assert_int_equal(fread(bytes, 1, (size_t)size, file), size);
	fclose(file);
	/* Every page's head, and a place within, in turn. */
	for (long at = 100; at < size; at += 509) {
		struct error err = { "" };
		char was = bytes[at];

		bytes[at] = (char)(was ^ 0x5a);
		write_file(copy, bytes, (size_t)size);
		bytes[at] = was;
		int rc = read_all(copy, &err);
		assert_true(rc == 0 || (rc == -EBADMSG && strlen(err.text) > 20));
		refused += rc < 0;
	}
	assert_true(refused > 0);
}

/* The recorder runs in this process; copying the files is what a user does meanwhile. */
static void a_copy_without_its_journal_asks_for_it(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	const char *copy = in_folder(state, "copy.fathom");
	struct recording_writer *writer = create(path);
	CLEANUP(freep) char *wal = journal_path(path, JOURNAL_WAL);
	CLEANUP(freep) char *copied_wal = journal_path(copy, JOURNAL_WAL);
	struct error err = { "" };

	add_basics(writer, 2, 30);
	add_samples(writer, 0, 100, 2, 30);
	assert_int_equal(recording_writer_commit(writer), 0);
	copy_file(path, copy, LONG_MAX);
	assert_refused(copy, -ENODATA, "copy.fathom: nothing is in it", "copy.fathom-wal");
	copy_file(wal, copied_wal, LONG_MAX);
	must(read_all(copy, &err), &err);
	finish(writer);
}

static int find_journal(void *context, const char *text)
{
	if (strstr(text, "copy.fathom-wal was not beside") != NULL)
		*(bool *)context = true;
	return 0;
}

static void a_copy_that_lacks_only_its_end_says_so(void **state)
{
	const char *path = make_finished(state);
	const char *copy = in_folder(state, "copy.fathom");
	struct error err = { "" };
	bool is_found = false;

	run_sql(path, "DELETE FROM facts WHERE key='finished'; PRAGMA journal_mode=WAL");
	copy_file(path, copy, LONG_MAX);
	struct recording_reader *reader = open_reading(copy);
	assert_int_equal(count_samples(reader), 3000);
	must(recording_reader_each_note(reader, find_journal, &is_found, &err), &err);
	assert_true(is_found);
	recording_reader_close(reader);
}

static void a_damaged_journal_leaves_the_recording_readable(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	const char *copy = in_folder(state, "copy.fathom");
	struct recording_writer *writer = create(path);
	CLEANUP(freep) char *wal = journal_path(path, JOURNAL_WAL);
	CLEANUP(freep) char *copied_wal = journal_path(copy, JOURNAL_WAL);

	add_basics(writer, 2, 30);
	for (uint64_t i = 0; i < 5; i++) {
		add_samples(writer, i * 100, 100, 2, 30);
		assert_int_equal(recording_writer_commit(writer), 0);
	}
	/* Cut off anywhere, the commits before the cut are there. */
	for (long len = 0; len < size_of(wal); len += 1531) {
		struct error err = { "" };

		unlink(copy);
		copy_file(path, copy, LONG_MAX);
		copy_file(wal, copied_wal, len);
		int rc = read_all(copy, &err);
		assert_true(rc == 0 || rc == -ENODATA);
		unlink(copied_wal);
	}
	finish(writer);
}

static void the_writer_refuses_to_reopen_what_is_no_recording(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = NULL;
	struct error err = { "" };

	assert_int_equal(recording_writer_reopen(path, &writer, &err), -ENOENT);
	write_file(path, "x", 1);
	assert_int_equal(recording_writer_reopen(path, &writer, &err), -ENOEXEC);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_missing_file_gets_a_sentence),
		TEST(an_empty_file_gets_a_sentence),
		TEST(one_that_has_only_just_begun_gets_a_sentence),
		TEST(a_folder_gets_a_sentence),
		TEST(a_pipe_gets_a_sentence_and_does_not_hang),
		TEST(foreign_bytes_get_a_sentence),
		TEST(another_programs_database_gets_a_sentence),
		TEST(a_newer_recording_gets_a_sentence),
		TEST(a_version_that_never_was_gets_a_sentence),
		TEST(a_recording_cut_short_anywhere_gets_a_sentence),
		TEST(damage_of_every_kind_gets_a_sentence),
		TEST(an_index_a_table_and_a_view_may_be_added),
		TEST(damaged_pages_never_do_harm),
		TEST(a_copy_without_its_journal_asks_for_it),
		TEST(a_copy_that_lacks_only_its_end_says_so),
		TEST(a_damaged_journal_leaves_the_recording_readable),
		TEST(the_writer_refuses_to_reopen_what_is_no_recording),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
