/*
 * fixture - folders and recordings for the tests of this room.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/reader.h"
#include "record/writer.h"

#define PERIOD_NS 999983

/* A folder of the test's own, removed with what is in it: setup and teardown of cmocka. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
/* A path in that folder; lives until the teardown. */
const char *in_folder(void **state, const char *name);

/* Fails the test with the sentence if rc is negative. */
void must(int rc, const struct error *err);
struct recording_writer *create(const char *path);
struct recording_reader *open_reading(const char *path);
/* Closes, and fails the test if that fails. */
void finish(struct recording_writer *writer);
/* A process (1), threads of it (1 to threads) and a chain of stacks (1 to stacks). */
void add_basics(struct recording_writer *writer, uint32_t threads, uint32_t stacks);
/* Samples over all threads and stacks, numbered from first: time, thread, stack, state, ending
 * and weight all follow from the number. */
struct recording_sample sample_of(uint64_t number, uint32_t threads, uint32_t stacks);
void add_samples(struct recording_writer *writer, uint64_t first, uint64_t count,
		 uint32_t threads, uint32_t stacks);

uint64_t count_samples(struct recording_reader *reader);
/* Fails unless each_sum and each_ending say what each_sample says. */
void assert_sums_agree(struct recording_reader *reader);
/* Opening fails with rc and a sentence that holds both words. */
void assert_refused(const char *path, int rc, const char *word, const char *other_word);

bool exists(const char *path);
long size_of(const char *path);
void write_file(const char *path, const void *data, size_t len);
/* Copies, with what was behind the end cut off at len. */
void copy_file(const char *from, const char *to, long len);
void run_sql(const char *path, const char *sql);
