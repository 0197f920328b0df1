/* Samples come back exactly, take few bytes, and their sums agree with them. */
#include "fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static int check_sample(void *context, const struct recording_sample *row)
{
	uint64_t *number = context;
	struct recording_sample due = sample_of((*number)++, 3, 50);

	assert_memory_equal(row, &due, sizeof due);
	return 0;
}

static void every_sample_comes_back_exactly(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	struct error err = { "" };
	uint64_t number = 0;

	add_basics(writer, 3, 50);
	/* More than one buffer, and commits at odd moments. */
	for (uint64_t first = 0; first < 50000; first += 12500) {
		add_samples(writer, first, 12500, 3, 50);
		assert_int_equal(recording_writer_commit(writer), 0);
	}
	finish(writer);
	struct recording_reader *reader = open_reading(path);
	must(recording_reader_each_sample(reader, check_sample, &number, &err), &err);
	assert_int_equal(number, 50000);
	assert_sums_agree(reader);
	recording_reader_close(reader);
}

static void sums_agree_where_stacks_hardly_repeat(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);

	add_basics(writer, 7, 5000);
	add_samples(writer, 0, 20000, 7, 5000);
	finish(writer);
	struct recording_reader *reader = open_reading(path);
	assert_int_equal(count_samples(reader), 20000);
	assert_sums_agree(reader);
	recording_reader_close(reader);
}

static void sums_agree_where_some_intervals_have_none(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);

	add_basics(writer, 2, 3000);
	for (uint64_t i = 0; i < 10; i++) {
		add_samples(writer, i * 5000, 5000, 2, i % 2 == 0 ? 3 : 3000);
		assert_int_equal(recording_writer_commit(writer), 0);
	}
	finish(writer);
	struct recording_reader *reader = open_reading(path);
	assert_sums_agree(reader);
	recording_reader_close(reader);
}

static void a_period_that_changes_leaves_earlier_weights_alone(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	struct recording_process process = { .id = 1, .pid = 100, .period_ns = 5 };
	struct error err = { "" };
	uint64_t number = 0;

	add_basics(writer, 3, 50);
	add_samples(writer, 0, 1000, 3, 50);
	assert_int_equal(recording_writer_update_process(writer, &process), 0);
	add_samples(writer, 1000, 1000, 3, 50);
	finish(writer);
	struct recording_reader *reader = open_reading(path);
	must(recording_reader_each_sample(reader, check_sample, &number, &err), &err);
	assert_int_equal(number, 2000);
	recording_reader_close(reader);
}

static void a_sample_that_cannot_be_is_not_taken(void **state)
{
	struct recording_writer *writer = create(in_folder(state, "a.fathom"));
	static const struct recording_sample cases[] = {
		{ .thread = 0, .stack = 1 },
		{ .thread = 3, .stack = 1 },
		{ .thread = 1, .stack = 3 },
		{ .thread = 1, .stack = 1, .state = 16 },
		{ .thread = 1, .stack = 1, .ending = 256 },
		{ .thread = 1, .stack = 1, .weight_ns = -1 },
	};

	add_basics(writer, 2, 2);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(recording_writer_add_sample(writer, &cases[i]), -EINVAL);
	assert_null(recording_writer_failure(writer));
	finish(writer);
}

static int stop_at_third(void *context, const struct recording_sample *row)
{
	(void)row;
	return ++*(int *)context == 3 ? 42 : 0;
}

static void a_loop_can_be_stopped(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	struct error err = { "" };
	int seen = 0;

	add_basics(writer, 1, 1);
	add_samples(writer, 0, 10, 1, 1);
	finish(writer);
	struct recording_reader *reader = open_reading(path);
	assert_int_equal(recording_reader_each_sample(reader, stop_at_third, &seen, &err), 42);
	assert_int_equal(seen, 3);
	recording_reader_close(reader);
}

static void a_million_samples_take_24_bytes_each(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);

	add_basics(writer, 130, 300);
	for (uint64_t i = 0; i < 50; i++) {
		for (uint64_t j = 0; j < 20000; j++) {
			struct recording_sample sample = { .time_ns = (int64_t)(i * 20000 + j) *
								      50000,
							   .thread = 1 + (uint32_t)(j % 130),
							   .stack = 1 + (uint32_t)(j * 7 % 300),
							   .weight_ns = PERIOD_NS };
			assert_int_equal(recording_writer_add_sample(writer, &sample), 0);
		}
		assert_int_equal(recording_writer_commit(writer), 0);
	}
	finish(writer);
	assert_true(size_of(path) <= 24 * 1000000);
	struct recording_reader *reader = open_reading(path);
	assert_sums_agree(reader);
	recording_reader_close(reader);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(every_sample_comes_back_exactly),
		TEST(sums_agree_where_stacks_hardly_repeat),
		TEST(sums_agree_where_some_intervals_have_none),
		TEST(a_period_that_changes_leaves_earlier_weights_alone),
		TEST(a_sample_that_cannot_be_is_not_taken),
		TEST(a_loop_can_be_stopped),
		TEST(a_million_samples_take_24_bytes_each),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
