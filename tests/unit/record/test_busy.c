/*
 * Another program that writes to the recording for a moment does not end it.  It ends its
 * transaction while the recorder pauses: the linker puts __wrap_usleep() in usleep()'s place.
 */
#include "fixture.h"
#include "recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

int __wrap_usleep(useconds_t pause_us);

static sqlite3 *other;
static unsigned pauses;

int __wrap_usleep(useconds_t pause_us)
{
	(void)pause_us;
	if (++pauses == 3)
		assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	return 0;
}

static void a_writer_beside_the_recorder_delays_it(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);

	add_basics(writer, 1, 1);
	assert_int_equal(recording_writer_commit(writer), 0);
	assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	pauses = 0;
	assert_int_equal(recording_writer_note(writer, "written late"), 0);
	assert_int_equal(recording_writer_commit(writer), 0);
	assert_int_equal(pauses, 3);
	sqlite3_close(other);
	add_samples(writer, 0, 100, 1, 1);
	finish(writer);
	struct recording_reader *reader = open_reading(path);
	assert_int_equal(count_samples(reader), 100);
	recording_reader_close(reader);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_writer_beside_the_recorder_delays_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
