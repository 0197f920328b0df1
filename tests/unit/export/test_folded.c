#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/memory.h"
#include "expect.h"
#include "export/export.h"
#include "export/sink.h"
#include "handmade.h"
#include "profile/profile.h"

static void an_empty_profile_is_no_lines(void **state)
{
	(void)state;
	assert_export("empty", "folded", "");
}

static void one_frame_is_one_line(void **state)
{
	(void)state;
	assert_export("one frame", "folded", "main 5\n");
}

static void each_depth_of_a_recursion_is_a_stack_of_its_own(void **state)
{
	(void)state;
	assert_export("recursion", "folded",
		      "main;fact 1000000\n"
		      "main;fact;fact 2000000\n"
		      "main;fact;fact;fact 4000000\n");
}

static void lines_and_threads_are_merged_and_script_frames_name_their_definition(void **state)
{
	(void)state;
	assert_export("mixed", "folded",
		      "[start-up] 2000000\n"
		      "main;Job.run (/srv/job.py:12);each (/srv/job.rb) 1000000\n"
		      "main;libz.so.1+0x2f10 1000000\n"
		      "main;sort 3000000\n"
		      "main;sort;swap 4000000\n"
		      "main;vfs_read 1000000\n");
}

static void no_name_can_end_a_frame_or_a_line(void **state)
{
	CLEANUP(text_done) struct text text = export_of("hostile", "folded");
	size_t lines = 0, frames = 0;

	(void)state;
	for (size_t i = 0; i < text.len; i++) {
		assert_true((unsigned char)text.data[i] >= 0x20 || text.data[i] == '\n');
		lines += text.data[i] == '\n';
		frames += text.data[i] == ';' || text.data[i] == '\n';
	}
	/* Sixteen names, each on the stack of the one before. */
	assert_int_equal(lines, 16);
	assert_int_equal(frames, 16 * 17 / 2);
	assert_non_null(strstr(text.data, ";a\\x3bb;new\\x0aline;tab\\x09here;\\x1b[31mred;"));
	assert_non_null(strstr(text.data, ";bad\\xff utf8;"));
	assert_non_null(strstr(text.data, ";[unknown];"));
}

static void the_last_frame_is_the_state_of_the_wall_clock(void **state)
{
	(void)state;
	assert_export(
		"waits", "folded",
		"clock_nanosleep;[sleep] 13000000\n"
		"run (/srv/a.py:3);[runnable] 1000000\n"
		"run (/srv/a.py:3);[running] 2000000\n"
		"run (/srv/a.py:3);futex(GIL);[gil] 3000000\n"
		"run (/srv/a.py:3);read(/var/lib/of/a/program/database.db);[io] 6000000\n");
}

static void states_can_be_left_out(void **state)
{
	CLEANUP(profile_freep) struct profile *profile = handmade_profile("waits");
	CLEANUP(text_done) struct text text = { 0 };
	const struct sink sink = sink_to_text(&text);
	struct error err;

	(void)state;
	profile_info(profile)->has_no_states = true;
	assert_int_equal(exporter_find("folded")->write(profile, &sink, &err), 0);
	assert_string_equal(
		text_string(&text),
		"clock_nanosleep 13000000\n"
		"run (/srv/a.py:3) 3000000\n"
		"run (/srv/a.py:3);futex(GIL) 3000000\n"
		"run (/srv/a.py:3);read(/var/lib/of/a/program/database.db) 6000000\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_profile_is_no_lines),
		cmocka_unit_test(one_frame_is_one_line),
		cmocka_unit_test(each_depth_of_a_recursion_is_a_stack_of_its_own),
		cmocka_unit_test(
			lines_and_threads_are_merged_and_script_frames_name_their_definition),
		cmocka_unit_test(the_last_frame_is_the_state_of_the_wall_clock),
		cmocka_unit_test(states_can_be_left_out),
		cmocka_unit_test(no_name_can_end_a_frame_or_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
