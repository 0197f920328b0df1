#include "cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "example.h"
#include "report/report.h"

/* When example_init_python() was recorded, in seconds: for 0.1 s. */
#define RECORDED 1763709132

static char folder[] = "/tmp/fathom-listing-XXXXXX";
static char path[64];

static const char source[] =
	"import math\n"
	"\n"
	"class Worker(Thread):\n" /* 3: where run() begins, for this test */
	"    def run(self):\n"
	"\ttotal = 0\n"
	"\ttotal += math.sin(1)  # \x1b[31m\n"
	"        a = 1\n"
	"        b = 1\n"
	"        c = 1\n"
	"        d = 1\n"
	"        e = 1\n"
	"        return caf\xc3\xa9\n"
	"\n"
	"after = 1\n";

static void write_source(const char *content, time_t changed)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(content, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(
		utimensat(AT_FDCWD, path,
			  (struct timespec[]){ { .tv_sec = changed }, { .tv_sec = changed } },
			  0),
		0);
}

/* The listing, behind its head. */
static char *list(const struct report_options *options, const char *file)
{
	struct made made;
	struct text text = { 0 };
	struct error err;

	example_init_python(&made, file);
	if (report_text(made.profile, options, &text, &err) < 0)
		fail_msg("%s", err.text);
	const char *listing = strstr(text_string(&text), "Lines of ");

	assert_non_null(listing);
	char *copy = xstrdup(listing);

	text_done(&text);
	made_done(&made);
	return copy;
}

static void assert_listing(const struct report_options *options, const char *expected)
{
	CLEANUP(freep) char *listing = list(options, path);
	CLEANUP(freep)
	char *whole = xasprintf("Lines of Worker.run: 91.00 ms, 91.0 %% of 100.0 ms.\n"
				"\n"
				"%s: 31.00 ms of its own, 91.00 ms with what it calls\n"
				"%s",
				path, expected);

	assert_string_equal(listing, whole);
}

static void the_source_stands_beside_the_time_of_each_line(void **state)
{
	(void)state;
	write_source(source, RECORDED - 1000);
	assert_listing(
		&(struct report_options){ .lines = "run" },
		"self %  self time  total %  total time  line  source\n"
		"                                           3  class Worker(Thread):\n"
		"                                           4      def run(self):\n"
		"                                           5          total = 0\n"
		"  30.0    30.0 ms     90.0     90.0 ms   > 6          total += math.sin(1)  # "
		"\\x1b[31m\n"
		"                                           7          a = 1\n"
		"                                           8          b = 1\n"
		"                                           9          c = 1\n"
		"                                          10          d = 1\n"
		"                                          11          e = 1\n"
		"   1.0     1.0 ms      1.0      1.0 ms    12          return caf\xc3\xa9\n");
}

static void lines_far_from_any_time_are_left_out(void **state)
{
	struct text text = { 0 };

	(void)state;
	text_add(&text, "def run():\n    a\n    b\n    c\n    d\n    hot()\n");
	for (int i = 7; i <= 60; i++)
		text_add(&text, i == 12 ? "    warm()\n" : i == 15 ? "x = 1\n" : "    pass\n");
	write_source(text_string(&text), RECORDED - 1000);
	text_done(&text);
	struct made made;

	made_init(&made);
	CLEANUP(freep) char *hot = xasprintf("%%run@%s:1+6", path);
	CLEANUP(freep) char *warm = xasprintf("%%run@%s:1+14", path);

	made_add(&made, hot, 97, 1);
	made_add(&made, warm, 3, 1);
	assert_int_equal(report_text(made.profile, &(struct report_options){ .lines = "run" },
				     &text, NULL),
			 0);
	/* The last lines, outside of the function, are not its context. */
	assert_string_equal(strstr(text_string(&text), "line  source"),
			    "line  source\n"
			    "                                           1  def run():\n"
			    "                                           2      a\n"
			    "                                           3      b\n"
			    "                                           4      c\n"
			    "                                           5      d\n"
			    "  97.0      97 ns     97.0       97 ns   > 6      hot()\n"
			    "                                           7      pass\n"
			    "                                           8      pass\n"
			    "                                           …  … 3 lines\n"
			    "                                          12      warm()\n"
			    "                                          13      pass\n"
			    "   3.0       3 ns      3.0        3 ns    14      pass\n");
	text_done(&text);
	made_done(&made);
}

static void time_on_no_known_line_does_not_hide_where_a_function_begins(void **state)
{
	struct made made;
	struct text text = { 0 };

	(void)state;
	write_source("one()\ntwo()\ndef run():\n    hot()\n", RECORDED - 1000);
	made_init(&made);
	CLEANUP(freep) char *hot = xasprintf("%%run@%s:3+4", path);
	CLEANUP(freep) char *unknown = xasprintf("%%run@%s:3", path);

	made_add(&made, hot, 97, 1);
	made_add(&made, unknown, 3, 1);
	assert_int_equal(report_text(made.profile, &(struct report_options){ .lines = "run" },
				     &text, NULL),
			 0);
	assert_string_equal(strstr(text_string(&text), "line  source"),
			    "line  source\n"
			    "   3.0       3 ns      3.0        3 ns     ?  (the line is not "
			    "known)\n"
			    "                                           3  def run():\n"
			    "  97.0      97 ns     97.0       97 ns   > 4      hot()\n");
	text_done(&text);
	made_done(&made);
}

static void light_lines_are_left_out_when_that_is_asked_for(void **state)
{
	(void)state;
	write_source(source, RECORDED - 1000);
	const char *expected =
		"self %  self time  total %  total time  line  source\n"
		"                                           3  class Worker(Thread):\n"
		"                                           4      def run(self):\n"
		"                                           5          total = 0\n"
		"  30.0    30.0 ms     90.0     90.0 ms   > 6          total += math.sin(1)  # "
		"\\x1b[31m\n"
		"                                           7          a = 1\n"
		"                                           8          b = 1\n"
		"… 1 lighter line left out (--min and -n decide)\n";

	assert_listing(&(struct report_options){ .lines = "run", .max_rows = 1 }, expected);
	assert_listing(&(struct report_options){ .lines = "run",
						 .has_min_percent = true,
						 .min_percent = 5 },
		       expected);
}

static void a_narrow_terminal_cuts_the_source(void **state)
{
	(void)state;
	write_source(source, RECORDED - 1000);
	CLEANUP(freep)
	char *listing =
		list(&(struct report_options){ .lines = "run", .width = 75, .has_color = true },
		     path);

	assert_non_null(strstr(listing, "\x1b[1;31m> 6\x1b[0m"));
	assert_non_null(strstr(listing, "…"));
}

/* Bare lines below the sentence. */
static void assert_refused(const char *file, const char *sentence)
{
	CLEANUP(freep)
	char *listing = list(&(struct report_options){ .lines = "run" }, file);
	CLEANUP(freep)
	char *expected = xasprintf("\nno source: %s\n"
				   "self %%  self time  total %%  total time  line\n"
				   "  30.0    30.0 ms     90.0     90.0 ms   > 6\n"
				   "   1.0     1.0 ms      1.0      1.0 ms    12\n",
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
				path);
	CLEANUP(freep)
	char *shorter = xasprintf("%s has 2 lines, and line 12 was recorded: "
				  "it is another file",
				  path);
	CLEANUP(freep) char *gone = xasprintf("%s is not on this machine", path);
	CLEANUP(freep) char *no_file = xasprintf("%s is no source file", folder);

	(void)state;
	write_source(source, RECORDED + 1);
	assert_refused(path, newer);
	write_source("one\ntwo", RECORDED - 1);
	assert_refused(path, shorter);
	assert_int_equal(unlink(path), 0);
	assert_refused(path, gone);
	assert_refused(folder, no_file);
	assert_refused("<string>", "<string> is no file that could be shown");
	assert_refused("(eval at /srv/app.rb:3)",
		       "(eval at /srv/app.rb:3) is no file that could be shown");
	assert_refused("-e", "-e is no file that could be shown");
	assert_refused("no/such/worker.py",
		       "no/such/worker.py is not to be found from here: its path counts from "
		       "where the program ran, or was compiled");
	/* As zipimport names what it runs. */
	write_source(source, RECORDED - 1);
	CLEANUP(freep) char *inside = xasprintf("%s/worker.py", path);
	CLEANUP(freep)
	char *archived =
		xasprintf("%s is not a file of its own: it may be in an archive", inside);

	assert_refused(inside, archived);
	/* As unreadable as one without permission, to root too. */
	CLEANUP(freep) char *loop = xasprintf("%s/loop.py", folder);
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
	assert_non_null(strstr(text_string(&text),
			       "no source: compiled has no file: it was compiled from a text"));
	text_clear(&text);
	assert_int_equal(report_text(made.profile,
				     &(struct report_options){ .lines = "[unknown" }, &text,
				     NULL),
			 0);
	assert_non_null(strstr(text_string(&text), "no source: these functions are not known"));
	text_done(&text);
	made_done(&made);
}

/* As Python before 3.9 names its program. */
static void a_relative_path_counts_from_where_the_program_was_started(void **state)
{
	struct made made;
	struct text text = { 0 };

	(void)state;
	write_source("def run():\n    found()\n", RECORDED - 1000);
	made_init(&made);
	CLEANUP(freep) char *stack = xasprintf("%%run@%s:1+2", strrchr(path, '/') + 1);

	made_add(&made, stack, 1, 1);
	profile_info(made.profile)->directory = folder;
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
	CLEANUP(freep) char *sentence = xasprintf("%s is no source file", path);

	(void)state;
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused(path, sentence);
	assert_int_equal(unlink(path), 0);
}

static void a_source_that_was_changed_meanwhile_is_shown_with_a_warning(void **state)
{
	(void)state;
	write_source(source, RECORDED);
	CLEANUP(freep) char *listing = list(&(struct report_options){ .lines = "run" }, path);

	assert_null(strstr(listing, "changed while"));
	struct timespec inside[] = { { RECORDED, 50000000 }, { RECORDED, 50000000 } };

	assert_int_equal(utimensat(AT_FDCWD, path, inside, 0), 0);
	freep(&listing);
	listing = list(&(struct report_options){ .lines = "run" }, path);
	assert_non_null(strstr(listing, "It was changed while it was recorded: what ran may "
					"have stood on other lines."));
	assert_non_null(strstr(listing, "total += math.sin(1)"));
}

static void a_function_in_c_has_no_lines(void **state)
{
	(void)state;
	CLEANUP(freep) char *listing = list(&(struct report_options){ .lines = "sin" }, path);

	assert_string_equal(
		listing, "Lines of math.sin: 60.00 ms, 60.0 % of 100.0 ms.\n"
			 "\n"
			 "math.sin: 0 ns of its own, 60.00 ms with what it calls\n"
			 "no source: math.sin is done in C, of which Python tells no line\n");
}

/* The listing of Ruby's "run", from its first line, without a command line around it. */
static char *list_ruby(const char *stack, uint64_t ns)
{
	struct made made;
	struct text text = { 0 };
	struct error err;

	made_init(&made);
	made_add(&made, stack, ns, 1);
	profile_info(made.profile)->directory = "/no/such";
	if (report_text(made.profile, &(struct report_options){ .lines = "run" }, &text, &err) <
	    0)
		fail_msg("%s", err.text);
	const char *lines = strstr(text_string(&text), "line  source\n");
	char *copy = xstrdup(lines ? lines : text_string(&text));

	text_done(&text);
	made_done(&made);
	return copy;
}

static void a_ruby_method_is_shown_to_its_end(void **state)
{
	(void)state;
	write_source("class Job\n"
		     "  def run\n"
		     "    hot()\n"
		     "  rescue IOError\n"
		     "  end\n"
		     "\n"
		     "  def other\n"
		     "  end\n"
		     "end\n",
		     RECORDED - 1000);
	CLEANUP(freep) char *stack = xasprintf("^Job#run@%s:2+3", path);
	CLEANUP(freep) char *listing = list_ruby(stack, 1);

	assert_string_equal(listing, "line  source\n"
				     "                                           2    def run\n"
				     " 100.0       1 ns    100.0        1 ns   > 3      hot()\n"
				     "                                           4    rescue "
				     "IOError\n"
				     "                                           5    end\n");
}

static void a_ruby_method_of_one_line_is_shown_alone(void **state)
{
	(void)state;
	write_source("def run = hot()\nendless = 1\ndef other = 2\n", RECORDED - 1000);
	CLEANUP(freep) char *stack = xasprintf("^Job#run@%s:1+1", path);
	CLEANUP(freep) char *listing = list_ruby(stack, 1);

	assert_string_equal(listing,
			    "line  source\n"
			    " 100.0       1 ns    100.0        1 ns   > 1  def run = hot()\n");
}

static void what_ruby_leaves_out_of_backtraces_has_a_source(void **state)
{
	(void)state;
	write_source("def run\n  hot()\nend\n", RECORDED - 1000);
	CLEANUP(freep) char *stack = xasprintf("^run@<internal:%s>:1+2", path);
	CLEANUP(freep) char *listing = list_ruby(stack, 1);

	assert_non_null(strstr(listing, "> 2    hot()\n"));
	freep(&listing);
	listing = list_ruby("^run@<internal:kernel>:1+2", 1);
	assert_non_null(
		strstr(listing, "no source: <internal:kernel> is no file that could be shown"));
	freep(&listing);
	listing = list_ruby("^Kernel#run", 1);
	assert_non_null(strstr(
		listing, "no source: Kernel#run is done in C, of which Ruby tells no line"));
}

static void a_native_function_without_debug_information_says_so(void **state)
{
	(void)state;
	CLEANUP(freep)
	char *listing = list(&(struct report_options){ .lines = "__sin_fma" }, path);

	assert_string_equal(listing,
			    "Lines of __sin_fma: 60.00 ms, 60.0 % of 100.0 ms.\n"
			    "\n"
			    "/lib/libm.so.6: 60.00 ms of its own, 60.00 ms with what it calls\n"
			    "no source: the lines of __sin_fma are not known: its file has no "
			    "debug information\n");
}

static void functions_of_one_name_stand_one_behind_the_other(void **state)
{
	(void)state;
	CLEANUP(freep)
	char *listing = list(&(struct report_options){ .lines = "<module>" }, path);
	const char *heavier = strstr(listing, "/srv/app/__init__.py: 0 ns");
	const char *lighter = strstr(listing, "/srv/jobs/__init__.py: 9.00 ms");

	assert_non_null(heavier);
	assert_non_null(lighter);
	assert_true(heavier < lighter);
}

static void not_all_functions_of_a_common_name_are_listed(void **state)
{
	struct made made;
	struct text text = { 0 };

	(void)state;
	made_init(&made);
	for (unsigned int i = 1; i <= 10; i++) {
		CLEANUP(freep) char *stack = xasprintf("%%<module>@/no/such/%u.py:1+1", i);

		made_add(&made, stack, i, 1);
	}
	struct report_options options = { .lines = "<module>" };

	assert_int_equal(report_text(made.profile, &options, &text, NULL), 0);
	assert_non_null(strstr(text_string(&text), "/no/such/10.py: "));
	assert_null(strstr(text_string(&text), "/no/such/2.py"));
	assert_non_null(strstr(text_string(&text),
			       "\n… 2 lighter ones of this name (-n 0 shows "
			       "all, MODULE.NAME one)\n"));
	text_clear(&text);
	options.max_rows = REPORT_ALL_ROWS;
	assert_int_equal(report_text(made.profile, &options, &text, NULL), 0);
	assert_non_null(strstr(text_string(&text), "/no/such/1.py: "));
	assert_null(strstr(text_string(&text), "lighter"));
	text_done(&text);
	made_done(&made);
}

static void a_name_that_means_nothing_is_refused(void **state)
{
	struct made made;
	struct text text = { 0 };
	struct error err;

	(void)state;
	example_init_python(&made, path);
	assert_int_equal(report_text(made.profile,
				     &(struct report_options){ .lines = "no_such_function" },
				     &text, &err),
			 -ENOENT);
	assert_int_equal(text.len, 0);
	made_done(&made);
}

static int make_folder(void **state)
{
	(void)state;
	setlocale(LC_ALL, "C.UTF-8");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof path, "%s/worker.py", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_source_stands_beside_the_time_of_each_line),
		cmocka_unit_test(lines_far_from_any_time_are_left_out),
		cmocka_unit_test(time_on_no_known_line_does_not_hide_where_a_function_begins),
		cmocka_unit_test(light_lines_are_left_out_when_that_is_asked_for),
		cmocka_unit_test(a_narrow_terminal_cuts_the_source),
		cmocka_unit_test(a_source_that_is_not_what_ran_is_not_shown),
		cmocka_unit_test(a_relative_path_counts_from_where_the_program_was_started),
		cmocka_unit_test(a_pipe_of_the_name_does_not_hold_the_report_up),
		cmocka_unit_test(a_source_that_was_changed_meanwhile_is_shown_with_a_warning),
		cmocka_unit_test(a_python_function_of_no_file_is_not_a_function_in_c),
		cmocka_unit_test(a_function_in_c_has_no_lines),
		cmocka_unit_test(a_ruby_method_is_shown_to_its_end),
		cmocka_unit_test(a_ruby_method_of_one_line_is_shown_alone),
		cmocka_unit_test(what_ruby_leaves_out_of_backtraces_has_a_source),
		cmocka_unit_test(a_native_function_without_debug_information_says_so),
		cmocka_unit_test(functions_of_one_name_stand_one_behind_the_other),
		cmocka_unit_test(not_all_functions_of_a_common_name_are_listed),
		cmocka_unit_test(a_name_that_means_nothing_is_refused),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
