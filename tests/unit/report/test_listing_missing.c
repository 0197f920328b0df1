/*
 * Sources that are not there, are not what ran, or are none: the listing has bare lines, and says
 * why.
 */
#include "cmocka_all.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "example.h"
#include "listing_made.h"
#include "report/report.h"

/* Bare lines below the sentence. */
static void assert_refused(const char *file, const char *sentence)
{
	CLEANUP(freep)
	char *listing = listing_of(&(struct report_options){ .lines = "run" }, file);
	CLEANUP(freep)
	char *expected =
		xasprintf("\nno source: %s\n"
			  "self %%     ±  self time  total %%     ±  total time  line\n"
			  "  30.0  ±9.6    30.0 ms     90.0  ±7.5     90.0 ms   > 6\n"
			  "   1.0  ≤5.6     1.0 ms      1.0  ≤5.6      1.0 ms    12\n",
			  sentence);
	struct text unwrapped = { 0 };

	/* Sentences are wrapped where they are long. */
	for (const char *at = listing; *at; at++)
		text_add_bytes(&unwrapped,
			       *at == '\n' && at[1] >= 'a' && at[1] <= 'z' &&
					       strncmp(at + 1, "no source", 9) != 0 &&
					       strncmp(at + 1, "self", 4) != 0
				       ? " "
				       : at,
			       1);
	if (!strstr(text_string(&unwrapped), expected))
		fail_msg("%s\nis not\n%s", text_string(&unwrapped), expected);
	text_done(&unwrapped);
}

static void a_source_that_is_not_what_ran_is_not_shown(void **state)
{
	CLEANUP(freep)
	char *newer = xasprintf("%s was changed after it was recorded: its "
				"lines are not those that ran",
				listing_path);
	CLEANUP(freep)
	char *shorter = xasprintf("%s has 2 lines, and line 12 was recorded: "
				  "it is another file",
				  listing_path);
	CLEANUP(freep) char *gone = xasprintf("%s is not on this machine", listing_path);
	CLEANUP(freep) char *no_file = xasprintf("%s is not a source file", listing_folder);

	(void)state;
	listing_write(listing_source, LISTING_RECORDED + 1);
	assert_refused(listing_path, newer);
	listing_write("one\ntwo", LISTING_RECORDED - 1);
	assert_refused(listing_path, shorter);
	assert_int_equal(unlink(listing_path), 0);
	assert_refused(listing_path, gone);
	assert_refused(listing_folder, no_file);
	assert_refused("<string>", "<string> is not a file that could be shown");
	assert_refused("(eval at /srv/app.rb:3)",
		       "(eval at /srv/app.rb:3) is not a file that could be shown");
	assert_refused("-e", "-e is not a file that could be shown");
	assert_refused("no/such/worker.py",
		       "no/such/worker.py cannot be found from here: its path is relative to "
		       "where the program ran, or was compiled");
	/* As zipimport names what it runs. */
	listing_write(listing_source, LISTING_RECORDED - 1);
	CLEANUP(freep) char *inside = xasprintf("%s/worker.py", listing_path);
	CLEANUP(freep)
	char *archived =
		xasprintf("%s is not a file of its own: it may be in an archive", inside);

	assert_refused(inside, archived);
	/* As unreadable as one without permission, to root too. */
	CLEANUP(freep) char *loop = xasprintf("%s/loop.py", listing_folder);
	CLEANUP(freep)
	char *unreadable =
		xasprintf("%s cannot be read: Too many levels of symbolic links", loop);

	assert_int_equal(symlink("loop.py", loop), 0);
	assert_refused(loop, unreadable);
	assert_int_equal(unlink(loop), 0);
}

static void a_python_function_of_no_file_is_not_a_function_in_c(void **state)
{
	struct made made;
	struct text text = { 0 };

	(void)state;
	made_init(&made);
	made_add(&made, "%compiled@:3+4", 2, 1);
	made_add(&made, "%[unknown Python function]", 2, 1);
	assert_int_equal(report_text(made.profile,
				     &(struct report_options){ .lines = "compiled" }, &text,
				     NULL),
			 0);
	assert_non_null(
		strstr(text_string(&text),
		       "no source: compiled has no file: it was compiled from a string"));
	text_clear(&text);
	assert_int_equal(report_text(made.profile,
				     &(struct report_options){ .lines = "[unknown" }, &text,
				     NULL),
			 0);
	assert_non_null(strstr(text_string(&text), "no source: these functions have no names"));
	text_done(&text);
	made_done(&made);
}

/* As Python before 3.9 names its program. */
static void a_relative_path_counts_from_where_the_program_was_started(void **state)
{
	struct made made;
	struct text text = { 0 };

	(void)state;
	listing_write("def run():\n    found()\n", LISTING_RECORDED - 1000);
	made_init(&made);
	CLEANUP(freep) char *stack = xasprintf("%%run@%s:1+2", strrchr(listing_path, '/') + 1);

	made_add(&made, stack, 1, 1);
	profile_info(made.profile)->directory = listing_folder;
	assert_int_equal(report_text(made.profile, &(struct report_options){ .lines = "run" },
				     &text, NULL),
			 0);
	assert_non_null(strstr(text_string(&text), "> 2      found()"));
	text_clear(&text);
	profile_info(made.profile)->directory = "/no/such";
	assert_int_equal(report_text(made.profile, &(struct report_options){ .lines = "run" },
				     &text, NULL),
			 0);
	assert_non_null(strstr(text_string(&text), "no source: /no/such/"));
	text_done(&text);
	made_done(&made);
}

static void a_pipe_of_the_name_does_not_hold_the_report_up(void **state)
{
	CLEANUP(freep) char *sentence = xasprintf("%s is not a source file", listing_path);

	(void)state;
	unlink(listing_path);
	assert_int_equal(mkfifo(listing_path, 0600), 0);
	assert_refused(listing_path, sentence);
	assert_int_equal(unlink(listing_path), 0);
}

static void a_source_that_was_changed_meanwhile_is_shown_with_a_warning(void **state)
{
	(void)state;
	listing_write(listing_source, LISTING_RECORDED);
	CLEANUP(freep)
	char *listing = listing_of(&(struct report_options){ .lines = "run" }, listing_path);

	assert_null(strstr(listing, "changed while"));
	struct timespec inside[] = { { LISTING_RECORDED, 50000000 },
				     { LISTING_RECORDED, 50000000 } };

	assert_int_equal(utimensat(AT_FDCWD, listing_path, inside, 0), 0);
	freep(&listing);
	listing = listing_of(&(struct report_options){ .lines = "run" }, listing_path);
	assert_non_null(strstr(listing, "The file was changed while its program was recorded: "
					"the code that ran may have been on other lines."));
	assert_non_null(strstr(listing, "total += math.sin(1)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_source_that_is_not_what_ran_is_not_shown),
		cmocka_unit_test(a_python_function_of_no_file_is_not_a_function_in_c),
		cmocka_unit_test(a_relative_path_counts_from_where_the_program_was_started),
		cmocka_unit_test(a_pipe_of_the_name_does_not_hold_the_report_up),
		cmocka_unit_test(a_source_that_was_changed_meanwhile_is_shown_with_a_warning),
	};

	return cmocka_run_group_tests(tests, listing_make_folder, listing_remove_folder);
}
