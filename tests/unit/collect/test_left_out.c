/* While too much waits for the disk, samples are left out and counted, and all else is kept. */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "abi/walk_status.h"
#include "collect/processes/image.h"
#include "record/reader.h"
/* The limit is the writer's own: 64 MiB would show the same. */
#include "record/writer.h"
#include "record/writer_state.h"

static void pump_round(struct scene *scene)
{
	pump_begin_round(&scene->pump);
	pump_image(&scene->pump, scene->image, pump_mark(scene->image), 0);
}

static int add_lost(void *context, const char *reason, uint64_t samples)
{
	assert_string_equal(reason, "the disk was too slow");
	*(uint64_t *)context += samples;
	return 0;
}

struct rows {
	uint64_t samples, lost, lost_ns;
};

static int count_row(void *context, const struct recording_sample *sample)
{
	struct rows *rows = context;

	assert_int_not_equal(sample->stack, 0);
	if (sample->ending == WALK_NO_SAMPLE) {
		rows->lost++;
		rows->lost_ns += (uint64_t)sample->weight_ns;
	} else {
		rows->samples++;
	}
	return 0;
}

static void samples_are_left_out_and_counted(void **state)
{
	struct scene *scene = *state;
	struct recording_reader *reader;
	struct error err;
	uint64_t lost = 0;
	struct rows rows = { 0 };

	assert_int_equal(recording_writer_start_thread(scene->writer), 0);
	scene->writer->samples_waiting = 0;
	put_stack(scene->image->ring, 0x77, 0x1000, 0x2000);
	put_sample(scene->image->ring, 77, START_NS + 1, 0x77, 0x1234);
	put_sample(scene->image->ring, 77, START_NS + 2, 0x77, 0x1234);
	pump_round(scene);
	assert_int_equal(scene->pump.samples, 0);
	assert_int_equal(scene->image->samples, 0);
	/* The disk is quick again: what was sent meanwhile is known. */
	scene->writer->samples_waiting = 1 << 20;
	put_sample(scene->image->ring, 77, START_NS + 3, 0x77, 0x1234);
	pump_round(scene);
	assert_true(recording_writer_stop_thread(scene->writer, -1));
	assert_int_equal(recording_writer_commit(scene->writer), 0);
	must(recording_reader_open(scene->path, &reader, &err), &err);
	must(recording_reader_each_lost(reader, add_lost, &lost, &err), &err);
	must(recording_reader_each_sample(reader, count_row, &rows, &err), &err);
	recording_reader_close(reader);
	assert_int_equal(lost, 2);
	assert_int_equal(rows.samples, 1);
	/* Both are one row, with the time that they stood for. */
	assert_int_equal(rows.lost, 1);
	assert_int_equal(rows.lost_ns, 2000);
	assert_int_equal(scene->image->left_ns, 2000);
}

static void what_was_left_out_at_the_end_is_reported(void **state)
{
	struct scene *scene = *state;
	struct recording_reader *reader;
	struct error err;
	uint64_t lost = 0;

	assert_int_equal(recording_writer_start_thread(scene->writer), 0);
	scene->writer->samples_waiting = 0;
	put_sample(scene->image->ring, 77, START_NS + 1, 0, 0x1234);
	pump_round(scene);
	assert_true(recording_writer_stop_thread(scene->writer, -1));
	pump_note_left_out(&scene->pump);
	pump_note_left_out(&scene->pump);
	assert_int_equal(recording_writer_commit(scene->writer), 0);
	must(recording_reader_open(scene->path, &reader, &err), &err);
	must(recording_reader_each_lost(reader, add_lost, &lost, &err), &err);
	recording_reader_close(reader);
	assert_int_equal(lost, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_setup, scene_teardown)
	const struct CMUnitTest tests[] = {
		TEST(samples_are_left_out_and_counted),
		TEST(what_was_left_out_at_the_end_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
