#include "cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "example.h"
#include "listing_made.h"
#include "report/report.h"

static void assert_listing(const struct report_options *options, const char *expected)
{
	CLEANUP(freep) char *listing = listing_of(options, listing_path);
	CLEANUP(freep)
	char *whole = xasprintf("Lines of Worker.run: 91.00 ms, 91.0 %% of 100.0 ms.\n"
				"\n"
				"%s: 31.00 ms of its own, 91.00 ms with what it calls\n"
				"%s",
				listing_path, expected);

	assert_string_equal(listing, whole);
}

static void the_source_stands_beside_the_time_of_each_line(void **state)
{
	(void)state;
	listing_write(listing_source, LISTING_RECORDED - 1000);
	assert_listing(
		&(struct report_options){ .lines = "run" },
		"self %     ±  self time  total %     ±  total time  line  source\n"
		"                                                       3  class "
		"Worker(Thread):\n"
		"                                                       4      def run(self):\n"
		"                                                       5          total = 0\n"
		"  30.0  ±9.6    30.0 ms     90.0  ±7.5     90.0 ms   > 6          total += "
		"math.sin(1)  # "
		"\\x1b[31m\n"
		"                                                       7          a = 1\n"
		"                                                       8          b = 1\n"
		"                                                       9          c = 1\n"
		"                                                      10          d = 1\n"
		"                                                      11          e = 1\n"
		"   1.0  ≤5.6     1.0 ms      1.0  ≤5.6      1.0 ms    12          return "
		"caf\xc3\xa9\n");
}

static void lines_far_from_any_time_are_left_out(void **state)
{
	struct text text = { 0 };

	(void)state;
	text_add(&text, "def run():\n    a\n    b\n    c\n    d\n    hot()\n");
	for (int i = 7; i <= 60; i++)
		text_add(&text, i == 12 ? "    warm()\n" : i == 15 ? "x = 1\n" : "    pass\n");
	listing_write(text_string(&text), LISTING_RECORDED - 1000);
	text_done(&text);
	struct made made;

	made_init(&made);
	CLEANUP(freep) char *hot = xasprintf("%%run@%s:1+6", listing_path);
	CLEANUP(freep) char *warm = xasprintf("%%run@%s:1+14", listing_path);

	made_add(&made, hot, 97, 1);
	made_add(&made, warm, 3, 1);
	assert_int_equal(report_text(made.profile, &(struct report_options){ .lines = "run" },
				     &text, NULL),
			 0);
	/* The last lines, outside of the function, are not its context. */
	assert_string_equal(
		strstr(text_string(&text), "line  source"),
		"line  source\n"
		"                                                         1  def run():\n"
		"                                                         2      a\n"
		"                                                         3      b\n"
		"                                                         4      c\n"
		"                                                         5      d\n"
		"  97.0   ≥0.0      97 ns     97.0   ≥0.0       97 ns   > 6      hot()\n"
		"                                                         7      pass\n"
		"                                                         8      pass\n"
		"                                                         …  … 3 lines\n"
		"                                                        12      warm()\n"
		"                                                        13      pass\n"
		"   3.0  ≤17.0       3 ns      3.0  ≤17.0        3 ns    14      pass\n");
	text_done(&text);
	made_done(&made);
}

static void time_on_no_known_line_does_not_hide_where_a_function_begins(void **state)
{
	struct made made;
	struct text text = { 0 };

	(void)state;
	listing_write("one()\ntwo()\ndef run():\n    hot()\n", LISTING_RECORDED - 1000);
	made_init(&made);
	CLEANUP(freep) char *hot = xasprintf("%%run@%s:3+4", listing_path);
	CLEANUP(freep) char *unknown = xasprintf("%%run@%s:3", listing_path);

	made_add(&made, hot, 97, 1);
	made_add(&made, unknown, 3, 1);
	assert_int_equal(report_text(made.profile, &(struct report_options){ .lines = "run" },
				     &text, NULL),
			 0);
	assert_string_equal(
		strstr(text_string(&text), "line  source"),
		"line  source\n"
		"   3.0  ≤17.0       3 ns      3.0  ≤17.0        3 ns     ?  (the line is not "
		"known)\n"
		"                                                         3  def run():\n"
		"  97.0   ≥0.0      97 ns     97.0   ≥0.0       97 ns   > 4      hot()\n");
	text_done(&text);
	made_done(&made);
}

static void light_lines_are_left_out_when_that_is_asked_for(void **state)
{
	(void)state;
	listing_write(listing_source, LISTING_RECORDED - 1000);
	const char *expected =
		"self %     ±  self time  total %     ±  total time  line  source\n"
		"                                                       3  class "
		"Worker(Thread):\n"
		"                                                       4      def run(self):\n"
		"                                                       5          total = 0\n"
		"  30.0  ±9.6    30.0 ms     90.0  ±7.5     90.0 ms   > 6          total += "
		"math.sin(1)  # "
		"\\x1b[31m\n"
		"                                                       7          a = 1\n"
		"                                                       8          b = 1\n"
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
	listing_write(listing_source, LISTING_RECORDED - 1000);
	CLEANUP(freep)
	char *listing = listing_of(
		&(struct report_options){ .lines = "run", .width = 60, .has_color = true },
		listing_path);

	assert_non_null(strstr(listing, "\x1b[1;31m> 6\x1b[0m"));
	assert_non_null(strstr(listing, "…"));
}

/* Shares say what times do; a source that is indented and cut says nothing. */
static void times_go_before_the_source_is_cut_short(void **state)
{
	static const struct {
		unsigned int width;
		const char *title;
	} cases[] = {
		{ 120, "self %     ±  self time  total %     ±  total time  line  source" },
		{ 90, "self %     ±  self time  total %     ±  line  source" },
		{ 80, "self %     ±  total %     ±  line  source" },
		{ 60, "self %  total %  line  source" },
	};

	(void)state;
	listing_write(
		"#\n#\nclass Worker(Thread):\n    def run(self):\n        total = 0\n"
		"        total += math.sin(1) + math.cos(1) + math.tan(1) + math.atan(1)\n"
		"\n\n\n\n\n\n\n",
		LISTING_RECORDED - 1000);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CLEANUP(freep)
		char *listing = listing_of(
			&(struct report_options){ .lines = "run", .width = cases[i].width },
			listing_path);

		if (!strstr(listing, cases[i].title))
			fail_msg("%u: %s", cases[i].width, listing);
	}
}

static void a_function_in_c_has_no_lines(void **state)
{
	(void)state;
	CLEANUP(freep)
	char *listing = listing_of(&(struct report_options){ .lines = "sin" }, listing_path);

	assert_string_equal(
		listing, "Lines of math.sin: 60.00 ms, 60.0 % of 100.0 ms.\n"
			 "\n"
			 "math.sin: 0 ns of its own, 60.00 ms with what it calls\n"
			 "no source: math.sin is written in C: Python keeps no lines of it\n");
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
	listing_write("class Job\n"
		      "  def run\n"
		      "    hot()\n"
		      "  rescue IOError\n"
		      "  end\n"
		      "\n"
		      "  def other\n"
		      "  end\n"
		      "end\n",
		      LISTING_RECORDED - 1000);
	CLEANUP(freep) char *stack = xasprintf("^Job#run@%s:2+3", listing_path);
	CLEANUP(freep) char *listing = list_ruby(stack, 1);

	assert_string_equal(
		listing, "line  source\n"
			 "                                                       2    def run\n"
			 " 100.0  ≥0.0       1 ns    100.0  ≥0.0        1 ns   > 3      hot()\n"
			 "                                                       4    rescue "
			 "IOError\n"
			 "                                                       5    end\n");
}

static void a_ruby_method_of_one_line_is_shown_alone(void **state)
{
	(void)state;
	listing_write("def run = hot()\nendless = 1\ndef other = 2\n", LISTING_RECORDED - 1000);
	CLEANUP(freep) char *stack = xasprintf("^Job#run@%s:1+1", listing_path);
	CLEANUP(freep) char *listing = list_ruby(stack, 1);

	assert_string_equal(listing, "line  source\n"
				     " 100.0  ≥0.0       1 ns    100.0  ≥0.0        1 ns   "
				     "> 1  def run = hot()\n");
}

static void what_ruby_leaves_out_of_backtraces_has_a_source(void **state)
{
	(void)state;
	listing_write("def run\n  hot()\nend\n", LISTING_RECORDED - 1000);
	CLEANUP(freep) char *stack = xasprintf("^run@<internal:%s>:1+2", listing_path);
	CLEANUP(freep) char *listing = list_ruby(stack, 1);

	assert_non_null(strstr(listing, "> 2    hot()\n"));
	freep(&listing);
	listing = list_ruby("^run@<internal:kernel>:1+2", 1);
	assert_non_null(strstr(
		listing, "no source: <internal:kernel> is not a file that could be shown"));
	freep(&listing);
	listing = list_ruby("^Kernel#run", 1);
	assert_non_null(strstr(
		listing, "no source: Kernel#run is written in C: Ruby keeps no lines of it"));
}

static void a_native_function_without_debug_information_says_so(void **state)
{
	(void)state;
	CLEANUP(freep)
	char *listing =
		listing_of(&(struct report_options){ .lines = "__sin_fma" }, listing_path);

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
	char *listing =
		listing_of(&(struct report_options){ .lines = "<module>" }, listing_path);
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
	example_init_python(&made, listing_path);
	assert_int_equal(report_text(made.profile,
				     &(struct report_options){ .lines = "no_such_function" },
				     &text, &err),
			 -ENOENT);
	assert_int_equal(text.len, 0);
	made_done(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_source_stands_beside_the_time_of_each_line),
		cmocka_unit_test(lines_far_from_any_time_are_left_out),
		cmocka_unit_test(time_on_no_known_line_does_not_hide_where_a_function_begins),
		cmocka_unit_test(light_lines_are_left_out_when_that_is_asked_for),
		cmocka_unit_test(times_go_before_the_source_is_cut_short),
		cmocka_unit_test(a_narrow_terminal_cuts_the_source),
		cmocka_unit_test(a_function_in_c_has_no_lines),
		cmocka_unit_test(a_ruby_method_is_shown_to_its_end),
		cmocka_unit_test(a_ruby_method_of_one_line_is_shown_alone),
		cmocka_unit_test(what_ruby_leaves_out_of_backtraces_has_a_source),
		cmocka_unit_test(a_native_function_without_debug_information_says_so),
		cmocka_unit_test(functions_of_one_name_stand_one_behind_the_other),
		cmocka_unit_test(not_all_functions_of_a_common_name_are_listed),
		cmocka_unit_test(a_name_that_means_nothing_is_refused),
	};

	return cmocka_run_group_tests(tests, listing_make_folder, listing_remove_folder);
}
