#include "cmocka_all.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "example.h"
#include "report/report.h"

static void assert_body(const struct report_options *options, const char *expected)
{
	struct made made;
	struct text text = { 0 };

	example_init_trace(&made);
	assert_int_equal(report_text(made.profile, options, &text, NULL), 0);
	assert_string_equal(example_body_of(text_string(&text)), expected);
	text_done(&text);
	made_done(&made);
}

static void a_trace_has_the_columns_of_pstats(void **state)
{
	struct made made;
	struct text text = { 0 };

	(void)state;
	example_init_trace(&made);
	assert_int_equal(report_text(made.profile, &(struct report_options){ 0 }, &text, NULL),
			 0);
	assert_string_equal(example_body_of(text_string(&text)),
			    "Percentages are of 100.0 ms, the time of each thread from its "
			    "first call to its "
			    "last.\n"
			    "\n"
			    "  calls  self %  self time  per call  total time  per call  "
			    "function               "
			    "    file:line\n"
			    "1,973/1    80.0    80.0 ms  40.55 µs     80.0 ms  80.00 ms  fib   "
			    "                 "
			    "    fib.py:3\n"
			    "      1    10.0    10.0 ms  10.00 ms     90.0 ms  90.00 ms  "
			    "<module>               "
			    "    app/__init__.py:1\n"
			    "      3     5.0     5.0 ms   1.67 ms      9.0 ms   3.00 ms  run   "
			    "                 "
			    "    worker.py:3\n"
			    "300,000     4.0     4.0 ms     13 ns      4.0 ms     13 ns  "
			    "math.sin               "
			    "    -\n"
			    "      0     1.0     1.0 ms                1.0 ms            "
			    "[outside of traced calls]  "
			    "-\n");
	text_done(&text);
	made_done(&made);
}

static void a_trace_has_no_lines(void **state)
{
	static const struct report_options asked[] = {
		{ .by = GROUP_BY_LINE },
		{ .lines = "fib" },
	};
	struct made made;

	(void)state;
	example_init_trace(&made);
	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
		struct text text = { 0 };
		struct error err;

		assert_int_equal(report_text(made.profile, &asked[i], &text, &err), -EINVAL);
		assert_string_equal(err.text,
				    "a trace has the times of functions, not of their lines: "
				    "'fathom record' makes a recording that has those");
		assert_int_equal(report_json(made.profile, &asked[i], &text, &err), -EINVAL);
		text_done(&text);
	}
	made_done(&made);
}

static void the_shortest_and_longest_call_stand_where_they_are_asked_for(void **state)
{
	struct made made;
	struct text text = { 0 };
	const struct call_times times = { .raw_ns = 9000000,
					  .shortest_ns = 1500,
					  .longest_ns = 2000000 };

	(void)state;
	made_init(&made);
	made_add_calls(&made, "main", 0, 0);
	profile_add_calls(made.profile,
			  &(struct weight){ .stack = made_stack(&made, "main;run"),
					    .thread = made.thread,
					    .ns = 6000000,
					    .calls = 3 },
			  &times);
	assert_int_equal(report_text(made.profile,
				     &(struct report_options){ .has_extremes = true }, &text,
				     NULL),
			 0);
	assert_non_null(strstr(text_string(&text), "per call  shortest  longest"));
	assert_non_null(strstr(text_string(&text), "2.00 ms   1.50 µs  2.00 ms  run"));
	text_clear(&text);
	assert_int_equal(report_text(made.profile, &(struct report_options){ 0 }, &text, NULL),
			 0);
	assert_null(strstr(text_string(&text), "shortest"));
	text_done(&text);
	made_done(&made);
}

static void a_trace_counts_calls_of_callers(void **state)
{
	struct made made;
	struct text text = { 0 };

	(void)state;
	example_init_trace(&made);
	assert_int_equal(report_text(made.profile,
				     &(struct report_options){ .callers = "math.sin" }, &text,
				     NULL),
			 0);
	assert_non_null(strstr(text_string(&text), "       calls  called from\n"));
	assert_non_null(strstr(text_string(&text), "     300,000    run\n"));
	text_done(&text);
	made_done(&made);
}

static void by_calls_those_called_most_stand_first(void **state)
{
	(void)state;
	assert_body(&(struct report_options){ .sort = REPORT_SORT_CALLS, .max_rows = 2 },
		    "Percentages are of 100.0 ms, the time of each thread from its first call "
		    "to its last.\n\n"
		    "  calls  self %  self time  per call  total time  per call  function  "
		    "file:line\n"
		    "300,000     4.0     4.0 ms     13 ns      4.0 ms     13 ns  math.sin  -\n"
		    "1,973/1    80.0    80.0 ms  40.55 µs     80.0 ms  80.00 ms  fib       "
		    "fib.py:3\n"
		    "… 3 more functions, 16.0 % together (-n 0 shows all)\n");
}

/* 0.6 % and more of the calls. */
static void min_goes_by_calls_when_sorted_by_calls(void **state)
{
	(void)state;
	assert_body(&(struct report_options){ .sort = REPORT_SORT_CALLS,
					      .has_min_percent = true,
					      .min_percent = 0.6 },
		    "Percentages are of 100.0 ms, the time of each thread from its first call "
		    "to its last.\n\n"
		    "  calls  self %  self time  per call  total time  per call  function  "
		    "file:line\n"
		    "300,000     4.0     4.0 ms     13 ns      4.0 ms     13 ns  math.sin  -\n"
		    "1,973/1    80.0    80.0 ms  40.55 µs     80.0 ms  80.00 ms  fib       "
		    "fib.py:3\n"
		    "… 3 more functions, 16.0 % together (--min 0 -n 0 shows all)\n");
}

static void threads_and_processes_have_calls_and_nothing_charged(void **state)
{
	(void)state;
	assert_body(&(struct report_options){ .by = GROUP_BY_THREAD },
		    "Percentages are of 100.0 ms, the time of each thread from its first call "
		    "to its last.\n\n"
		    "time %     time    calls  tid  thread  pid  process\n"
		    "  90.0  90.0 ms    1,974  100  prog    100  prog\n"
		    "  10.0  10.0 ms  300,003  101  worker  100  prog\n");
	assert_body(&(struct report_options){ .by = GROUP_BY_PROCESS },
		    "Percentages are of 100.0 ms, the time of each thread from its first call "
		    "to its last.\n\n"
		    "time %      time    calls  pid  process  not entered because\n"
		    " 100.0  100.0 ms  301,977  100  prog\n");
	assert_body(&(struct report_options){ .by = GROUP_BY_PROGRAM },
		    "Percentages are of 100.0 ms, the time of each thread from its first call "
		    "to its last.\n\n"
		    "time %      time    calls  processes  entered  program  not entered "
		    "because\n"
		    " 100.0  100.0 ms  301,977          1        1  prog\n");
}

static void modules_and_regions_have_calls(void **state)
{
	(void)state;
	assert_body(
		&(struct report_options){ .by = GROUP_BY_MODULE, .sort = REPORT_SORT_CALLS },
		"Percentages are of 100.0 ms, the time of each thread from its first call "
		"to its last.\n\n"
		"  calls  self %  self time  total %  total time  module\n"
		"300,000     4.0     4.0 ms      4.0      4.0 ms  [Python's built-in "
		"functions]\n"
		"1,973/1    80.0    80.0 ms     80.0     80.0 ms  /srv/app/fib.py\n"
		"      3     5.0     5.0 ms      9.0      9.0 ms  /srv/app/worker.py\n"
		"      1    10.0    10.0 ms     90.0     90.0 ms  /srv/app/__init__.py\n"
		"      0     1.0     1.0 ms      1.0      1.0 ms  [outside of traced "
		"calls]\n");
	assert_body(&(struct report_options){ .by = GROUP_BY_REGION },
		    "Percentages are of 100.0 ms, the time of each thread from its first call "
		    "to its last.\n\n"
		    "calls  self %  self time  total %  total time  region\n"
		    "    0   100.0   100.0 ms    100.0    100.0 ms  [no region]\n");
}

/* Times of calls are no CPU time. */
static void a_trace_that_was_not_ended_has_no_cpu_time(void **state)
{
	struct made made;
	struct text text = { 0 };

	(void)state;
	example_init_trace(&made);
	profile_info(made.profile)->kernel_cpu_ns = FIGURE_UNKNOWN;
	profile_info(made.profile)->is_unfinished = true;
	assert_int_equal(report_text(made.profile, &(struct report_options){ 0 }, &text, NULL),
			 0);
	assert_non_null(strstr(text_string(&text), "missing  the recording is not finished; "));
	text_done(&text);
	made_done(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_has_the_columns_of_pstats),
		cmocka_unit_test(a_trace_has_no_lines),
		cmocka_unit_test(the_shortest_and_longest_call_stand_where_they_are_asked_for),
		cmocka_unit_test(a_trace_counts_calls_of_callers),
		cmocka_unit_test(by_calls_those_called_most_stand_first),
		cmocka_unit_test(min_goes_by_calls_when_sorted_by_calls),
		cmocka_unit_test(threads_and_processes_have_calls_and_nothing_charged),
		cmocka_unit_test(modules_and_regions_have_calls),
		cmocka_unit_test(a_trace_that_was_not_ended_has_no_cpu_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
