/* More samples than 32 bits count: 64 processors make them in 19 hours. */
#include "fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* The rows before are as if they had been written: their sums are. */
#include "record/writer_state.h"

#define BEFORE (UINT32_MAX - 20LL)
#define BEHIND 100

static const char *record_many(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	char sql[300];

	add_basics(writer, 2, 40);
	writer->store.last_sample = BEFORE;
	writer->store.last_interval = writer->store.last_sum = writer->store.last_ending = 1;
	/* Repeated, so that they are worth sums of their own. */
	for (int i = 0; i < BEHIND; i++) {
		const struct recording_sample sample = {
			.time_ns = i, .thread = 1, .stack = 7, .weight_ns = PERIOD_NS
		};

		assert_int_equal(recording_writer_add_sample(writer, &sample), 0);
	}
	finish(writer);
	snprintf(sql, sizeof sql,
		 "INSERT INTO intervals VALUES(1, 1, %lld, 0, 1);"
		 "INSERT INTO sums VALUES(1, 1, 1, 5, 0, 1000, %lld);"
		 "INSERT INTO endings VALUES(1, 1, 0, %lld)",
		 BEFORE, BEFORE, BEFORE);
	run_sql(path, sql);
	return path;
}

static int add_sum(void *context, const struct recording_sum *sum)
{
	uint64_t *samples = context;

	samples[sum->stack == 7] += sum->samples;
	return 0;
}

static void sums_go_on_behind_32_bits(void **state)
{
	struct recording_reader *reader = open_reading(record_many(state));
	uint64_t samples[2] = { 0 };
	struct error err;

	must(recording_reader_each_sum(reader, add_sum, samples, &err), &err);
	assert_int_equal(samples[0], BEFORE);
	assert_int_equal(samples[1], BEHIND);
	recording_reader_close(reader);
}

static void symbols_can_be_added_to_it(void **state)
{
	const char *path = record_many(state);
	struct recording_writer *writer;
	struct error err;
	uint32_t id;

	must(recording_writer_reopen(path, &writer, &err), &err);
	assert_int_equal(recording_writer_add_function(
				 writer, &(struct recording_function){ .name = "f" }, &id),
			 0);
	finish(writer);
}

static void what_is_named_by_rows_has_32_bits(void **state)
{
	const char *path = record_many(state);

	run_sql(path, "UPDATE stacks SET id=5000000000 WHERE id=40");
	assert_refused(path, -EBADMSG, "rows of stacks", "cannot be counted");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(sums_go_on_behind_32_bits),
		TEST(symbols_can_be_added_to_it),
		TEST(what_is_named_by_rows_has_32_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
