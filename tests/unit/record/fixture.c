#include "fixture.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/table.h"
#include "record/keys.h"

struct folder {
	char *path;
	struct arena names;
};

int fixture_setup(void **state)
{
	const char *base = getenv("TMPDIR");
	struct folder *folder = xzalloc(sizeof *folder);

	folder->path = xasprintf("%s/fathom-record-XXXXXX", base != NULL ? base : "/tmp");
	*state = folder;
	return mkdtemp(folder->path) != NULL ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st;
	(void)kind;
	(void)walk;
	return remove(path);
}

int fixture_teardown(void **state)
{
	struct folder *folder = *state;

	chmod(folder->path, 0700);
	int rc = nftw(folder->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(folder->path);
	arena_done(&folder->names);
	free(folder);
	return rc;
}

const char *in_folder(void **state, const char *name)
{
	struct folder *folder = *state;
	CLEANUP(freep) char *path = xasprintf("%s/%s", folder->path, name);

	return arena_strndup(&folder->names, path, strlen(path));
}

void must(int rc, const struct error *err)
{
	if (rc < 0)
		fail_msg("%s (%d)", err->text, rc);
}

struct recording_writer *create(const char *path)
{
	struct recording_writer *writer = NULL;
	struct error err = { "" };

	must(recording_writer_create(path, &writer, &err), &err);
	return writer;
}

struct recording_reader *open_reading(const char *path)
{
	struct recording_reader *reader = NULL;
	struct error err = { "" };

	must(recording_reader_open(path, &reader, &err), &err);
	return reader;
}

void finish(struct recording_writer *writer)
{
	struct error err = { "" };

	must(recording_writer_close(writer, &err), &err);
}

void add_basics(struct recording_writer *writer, uint32_t threads, uint32_t stacks)
{
	struct recording_process process = { .pid = 100,
					     .name = "program",
					     .end_ns = RECORDING_UNKNOWN,
					     .period_ns = PERIOD_NS };
	struct recording_module module = { .path = "/usr/bin/program" };
	uint32_t id, module_id, frame, stack = 0;

	assert_int_equal(recording_writer_add_process(writer, &process, &id), 0);
	for (uint32_t i = 0; i < threads; i++) {
		struct recording_thread thread = { .process = 1, .tid = 100 + (int)i };

		assert_int_equal(recording_writer_add_thread(writer, &thread, &id), 0);
	}
	assert_int_equal(recording_writer_add_module(writer, &module, &module_id), 0);
	for (uint32_t i = 0; i < stacks; i++) {
		struct recording_frame place = { .module = module_id, .address = 0x1000 + i };

		assert_int_equal(recording_writer_add_frame(writer, &place, &frame), 0);
		struct recording_stack row = { .parent = stack, .frame = frame };
		assert_int_equal(recording_writer_add_stack(writer, &row, &stack), 0);
	}
}

struct recording_sample sample_of(uint64_t number, uint32_t threads, uint32_t stacks)
{
	return (struct recording_sample){ .time_ns = (int64_t)(number * 333331),
					  .thread = 1 + (uint32_t)(number % threads),
					  .stack = (uint32_t)(number / 3 % (stacks + 1)),
					  .state = (uint32_t)(number % 11 == 0 ? 5 : 0),
					  .ending = (uint32_t)(number % 101 == 0 ? 3 : 0),
					  .weight_ns = number % 13 == 0 ? 1234567 : PERIOD_NS };
}

void add_samples(struct recording_writer *writer, uint64_t first, uint64_t count,
		 uint32_t threads, uint32_t stacks)
{
	for (uint64_t i = first; i < first + count; i++) {
		struct recording_sample sample = sample_of(i, threads, stacks);

		assert_int_equal(recording_writer_add_sample(writer, &sample), 0);
	}
}

static int count_one(void *context, const struct recording_sample *row)
{
	(void)row;
	++*(uint64_t *)context;
	return 0;
}

uint64_t count_samples(struct recording_reader *reader)
{
	struct error err = { "" };
	uint64_t count = 0;

	must(recording_reader_each_sample(reader, count_one, &count, &err), &err);
	return count;
}

struct tally {
	struct table weights, samples;
	uint64_t endings[256];
};

static int tally_sample(void *context, const struct recording_sample *row)
{
	struct tally *tally = context;
	uint64_t hi = (uint64_t)row->thread << 32 | row->state;

	*table_at(&tally->weights, hi, row->stack, NULL) += (uint64_t)row->weight_ns;
	*table_at(&tally->samples, hi, row->stack, NULL) += 1;
	tally->endings[row->ending]++;
	return 0;
}

static int take_sum(void *context, const struct recording_sum *row)
{
	struct tally *tally = context;
	uint64_t hi = (uint64_t)row->thread << 32 | row->state;

	*table_at(&tally->weights, hi, row->stack, NULL) -= (uint64_t)row->weight_ns;
	*table_at(&tally->samples, hi, row->stack, NULL) -= row->samples;
	return 0;
}

static int take_ending(void *context, uint32_t ending, uint64_t samples)
{
	((struct tally *)context)->endings[ending] -= samples;
	return 0;
}

static void assert_nothing_left(const struct table *table)
{
	uint64_t hi, lo, value;
	size_t cursor = 0;

	while (table_next(table, &cursor, &hi, &lo, &value))
		assert_int_equal(value, 0);
}

void assert_sums_agree(struct recording_reader *reader)
{
	struct tally tally = { 0 };
	struct error err = { "" };

	must(recording_reader_each_sample(reader, tally_sample, &tally, &err), &err);
	must(recording_reader_each_sum(reader, take_sum, &tally, &err), &err);
	must(recording_reader_each_ending(reader, take_ending, &tally, &err), &err);
	assert_nothing_left(&tally.weights);
	assert_nothing_left(&tally.samples);
	for (size_t i = 0; i < 256; i++)
		assert_int_equal(tally.endings[i], 0);
	table_done(&tally.weights);
	table_done(&tally.samples);
}

void assert_refused(const char *path, int rc, const char *word, const char *other_word)
{
	struct recording_reader *reader = NULL;
	struct error err = { "" };

	assert_int_equal(recording_reader_open(path, &reader, &err), rc);
	assert_null(reader);
	if (strstr(err.text, word) == NULL || strstr(err.text, other_word) == NULL)
		fail_msg("'%s' lacks '%s' or '%s'", err.text, word, other_word);
}

bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

long size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (long)st.st_size : -1;
}

void write_file(const char *path, const void *data, size_t len)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

void copy_file(const char *from, const char *to, long len)
{
	long size = size_of(from) < len ? size_of(from) : len;
	CLEANUP(freep) char *data = xmalloc((size_t)size + 1);
	FILE *file = fopen(from, "rb");

	assert_non_null(file);
	assert_int_equal(fread(data, 1, (size_t)size, file), size);
	fclose(file);
	write_file(to, data, (size_t)size);
}

void run_sql(const char *path, const char *sql)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	sqlite3_close(db);
}
