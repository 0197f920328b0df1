/*
 * A disk that does not answer keeps no caller waiting; run under ThreadSanitizer too.  The disk
 * is the test's: SQLite calls its fdatasync(), which waits at a gate.
 */
#include "fixture.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* The limits are the writer's own: megabytes would show the same. */
#include "record/writer_state.h"

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool is_shut, is_broken, has_arrived;
	unsigned passed;
} gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false, false, 0 };

static int pass_gate(void)
{
	pthread_mutex_lock(&gate.mutex);
	gate.has_arrived = true;
	pthread_cond_broadcast(&gate.changed);
	while (gate.is_shut)
		pthread_cond_wait(&gate.changed, &gate.mutex);
	gate.passed++;
	const bool is_broken = gate.is_broken;

	pthread_mutex_unlock(&gate.mutex);
	errno = EIO;
	return is_broken ? -1 : 0;
}

int fsync(int fd)
{
	(void)fd;
	return pass_gate();
}

int fdatasync(int fd)
{
	(void)fd;
	return pass_gate();
}

static void set_gate(bool is_shut)
{
	pthread_mutex_lock(&gate.mutex);
	gate.is_shut = is_shut;
	gate.has_arrived = false;
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.mutex);
}

static void wait_for_arrival(void)
{
	pthread_mutex_lock(&gate.mutex);
	while (!gate.has_arrived)
		pthread_cond_wait(&gate.changed, &gate.mutex);
	pthread_mutex_unlock(&gate.mutex);
}

static bool is_unused(void)
{
	pthread_mutex_lock(&gate.mutex);
	const bool is = gate.passed == 0;

	pthread_mutex_unlock(&gate.mutex);
	return is;
}

/* With a rollback journal, each commit is a matter of the disk. */
static struct recording_writer *begin(void **state, const char *path)
{
	assert_int_equal(mkdir(in_folder(state, "a.fathom-shm"), 0700), 0);
	gate.is_broken = false;
	set_gate(false);
	struct recording_writer *writer = create(path);

	assert_int_equal(recording_writer_start_thread(writer), 0);
	add_basics(writer, 2, 40);
	return writer;
}

/* From here on the writer's thread waits at the gate. */
static void shut(struct recording_writer *writer)
{
	set_gate(true);
	writer->ticked_at_ns = 0;
	assert_int_equal(recording_writer_tick(writer), 0);
	wait_for_arrival();
	pthread_mutex_lock(&gate.mutex);
	gate.passed = 0;
	pthread_mutex_unlock(&gate.mutex);
}

static void tick(struct recording_writer *writer)
{
	writer->ticked_at_ns = 0;
	recording_writer_tick(writer);
}

static int add_lost(void *context, const char *reason, uint64_t samples)
{
	assert_string_equal(reason, "the disk was too slow");
	*(uint64_t *)context += samples;
	return 0;
}

static uint64_t count_lost(struct recording_reader *reader)
{
	uint64_t lost = 0;
	struct error err;

	must(recording_reader_each_lost(reader, add_lost, &lost, &err), &err);
	return lost;
}

static void no_call_waits_for_the_disk(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = begin(state, path);

	shut(writer);
	for (uint64_t first = 0; first < 20000; first += 1000) {
		add_samples(writer, first, 1000, 2, 40);
		tick(writer);
	}
	assert_false(recording_writer_stop_thread(writer, 1));
	assert_true(is_unused());
	set_gate(false);
	assert_true(recording_writer_stop_thread(writer, -1));
	finish(writer);
	struct recording_reader *reader = open_reading(path);

	assert_int_equal(count_samples(reader), 20000);
	assert_sums_agree(reader);
	recording_reader_close(reader);
}

static void one_commit_serves_all_the_seconds_that_went_by(void **state)
{
	struct recording_writer *writer = begin(state, in_folder(state, "a.fathom"));

	shut(writer);
	for (uint64_t first = 0; first < 50; first++) {
		add_samples(writer, first, 1, 2, 40);
		tick(writer);
	}
	set_gate(false);
	assert_true(recording_writer_stop_thread(writer, -1));
	/* A commit takes four: of fifty it would be 200. */
	assert_true(gate.passed < 50);
	finish(writer);
}

static void a_full_queue_has_no_room_for_samples_but_for_rows(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = begin(state, path);
	uint64_t kept = 0;

	writer->samples_waiting = 50000;
	shut(writer);
	while (recording_writer_has_room(writer)) {
		add_samples(writer, kept++, 1, 2, 40);
		recording_writer_tick(writer);
	}
	assert_int_equal(recording_writer_add_lost(writer, "the disk was too slow", 7), 0);
	assert_int_equal(recording_writer_note(writer, "a row that is no sample"), 0);
	set_gate(false);
	assert_true(recording_writer_stop_thread(writer, -1));
	assert_true(recording_writer_has_room(writer));
	finish(writer);
	struct recording_reader *reader = open_reading(path);

	assert_int_equal(count_samples(reader), kept);
	assert_int_equal(count_lost(reader), 7);
	assert_true(recording_reader_is_finished(reader));
	recording_reader_close(reader);
}

static void too_many_rows_end_the_recording_whole(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = begin(state, path);
	struct error err;
	uint64_t kept = 0;

	writer->rows_waiting = 50000;
	shut(writer);
	while (recording_writer_tick(writer) == 0)
		add_samples(writer, kept++, 1, 2, 40);
	assert_non_null(strstr(recording_writer_failure(writer), "the disk was too slow"));
	assert_int_equal(recording_writer_note(writer, "x"), -ENOBUFS);
	set_gate(false);
	assert_int_equal(recording_writer_close(writer, &err), -ENOBUFS);
	assert_non_null(strstr(err.text, "can be read"));
	struct recording_reader *reader = open_reading(path);

	assert_int_equal(count_samples(reader), kept);
	assert_sums_agree(reader);
	assert_false(recording_reader_is_finished(reader));
	recording_reader_close(reader);
}

static void a_failure_of_the_disk_reaches_the_caller(void **state)
{
	struct recording_writer *writer = begin(state, in_folder(state, "a.fathom"));
	struct error err;

	shut(writer);
	pthread_mutex_lock(&gate.mutex);
	gate.is_broken = true;
	pthread_mutex_unlock(&gate.mutex);
	set_gate(false);
	assert_true(recording_writer_stop_thread(writer, -1));
	assert_int_equal(recording_writer_tick(writer), -EIO);
	assert_non_null(strstr(recording_writer_failure(writer), "the recording ends here"));
	assert_int_equal(recording_writer_note(writer, "x"), -EIO);
	assert_int_equal(recording_writer_close(writer, &err), -EIO);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(no_call_waits_for_the_disk),
		TEST(one_commit_serves_all_the_seconds_that_went_by),
		TEST(a_full_queue_has_no_room_for_samples_but_for_rows),
		TEST(too_many_rows_end_the_recording_whole),
		TEST(a_failure_of_the_disk_reaches_the_caller),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
