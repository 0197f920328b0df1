/*
 * A tick commits once a second and copies the journal every five.  The clock is the test's: the
 * linker puts __wrap_clock_gettime() in the place of the real one.
 */
#include "fixture.h"
#include "recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

int __wrap_clock_gettime(clockid_t clock, struct timespec *out_now);

static struct timespec now = { .tv_sec = 1000 };

int __wrap_clock_gettime(clockid_t clock, struct timespec *out_now)
{
	(void)clock;
	*out_now = now;
	return 0;
}

static void pass(long ms)
{
	now.tv_nsec += ms * 1000000;
	now.tv_sec += now.tv_nsec / 1000000000;
	now.tv_nsec %= 1000000000;
}

static uint64_t committed(const char *path)
{
	struct recording_reader *reader = open_reading(path);
	uint64_t samples = count_samples(reader);

	recording_reader_close(reader);
	return samples;
}

static struct recording_writer *begin(const char *path)
{
	struct recording_writer *writer = create(path);

	pass(2000);
	assert_int_equal(recording_writer_tick(writer), 0);
	add_basics(writer, 1, 1);
	add_samples(writer, 0, 10, 1, 1);
	return writer;
}

static void a_tick_commits_when_half_a_second_has_gone_by(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = begin(path);

	pass(499);
	assert_int_equal(recording_writer_tick(writer), 0);
	assert_int_equal(committed(path), 0);
	pass(1);
	assert_int_equal(recording_writer_tick(writer), 0);
	assert_int_equal(committed(path), 10);
	finish(writer);
}

static void the_main_file_gets_what_there_is_every_five_seconds(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = begin(path);
	long before = size_of(path);

	for (uint64_t second = 1; second <= 4; second++) {
		pass(1000);
		assert_int_equal(recording_writer_tick(writer), 0);
		add_samples(writer, second * 1000, 1000, 1, 1);
	}
	assert_int_equal(size_of(path), before);
	pass(1000);
	assert_int_equal(recording_writer_tick(writer), 0);
	assert_true(size_of(path) > before);
	/* The journal is begun anew, so it does not grow with the recording. */
	long journal = size_of(beside(state, "a.fathom", "-wal"));
	for (uint64_t second = 5; second <= 24; second++) {
		add_samples(writer, second * 1000, 1000, 1, 1);
		pass(1000);
		assert_int_equal(recording_writer_tick(writer), 0);
	}
	assert_true(size_of(beside(state, "a.fathom", "-wal")) < 2 * journal);
	finish(writer);
	assert_int_equal(committed(path), 24010);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_tick_commits_when_half_a_second_has_gone_by),
		TEST(the_main_file_gets_what_there_is_every_five_seconds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
