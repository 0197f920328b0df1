#include "cmocka_all.h"

#include <locale.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "example.h"
#include "report/report.h"

typedef void make_profile(struct made *made);

/* The report's beginning. */
static void assert_head(make_profile *make, const struct report_options *options,
			const char *expected)
{
	struct made made;
	struct text text = { 0 };

	make(&made);
	assert_int_equal(report_text(made.profile, options, &text, NULL), 0);
	if (text.len > strlen(expected))
		text.data[strlen(expected)] = '\0';
	assert_string_equal(text_string(&text), expected);
	text_done(&text);
	made_done(&made);
}

static void assert_info(make_profile *make, const char *expected)
{
	struct made made;
	struct text text = { 0 };

	make(&made);
	report_info_text(made.profile, &(struct report_options){ 0 }, &text);
	assert_string_equal(text_string(&text), expected);
	text_done(&text);
	made_done(&made);
}

static void make_empty(struct made *made)
{
	*made = (struct made){ .profile = profile_new() };
}

static void a_summary_has_three_lines_and_what_is_missing(void **state)
{
	(void)state;
	assert_head(
		example_init, &(struct report_options){ .is_summary = true },
		"command  redis-server --port 7777 --save ''\n"
		"time     5.102 s of CPU time in 6.200 s (0.82 CPUs busy), 3 threads\n"
		"programs 2 processes: redis-server 98 %, busybox 2 %\n"
		"samples  4,960 at 1,000 Hz of CPU time, none lost; sampling took less than 1 "
		"%\n"
		"missing  2.0 % is of processes that could not be sampled (busybox: it is "
		"statically linked); see\n"
		"         'fathom info'\n"
		"\n");
}

/* cmake's configuration: a hundred brief processes. */
static void make_starts(struct made *made)
{
	example_init(made);
	profile_info(made->profile)->startup_ns = 1000000000;
	profile_info(made->profile)->thread_only_ns = 200000000;
	profile_info(made->profile)->unexplained_ns = -350000000;
	made_add(made, "[start-up]", 1000000000, 0);
}

static void starts_of_processes_are_said_above_and_have_no_row(void **state)
{
	struct made made;
	struct text text = { 0 };
	const struct report_options options = { .is_summary = true, .width = 100 };

	(void)state;
	make_starts(&made);
	assert_int_equal(report_text(made.profile, &options, &text, NULL), 0);
	assert_non_null(strstr(text_string(&text),
			       "\nprograms 2 processes, 20 % their starts "
			       "and ends: redis-server 82 %, busybox 18 %\n"));
	assert_null(strstr(text_string(&text), "[start-up]"));
	assert_null(strstr(text_string(&text), "[exit]"));
	text_done(&text);
	made_done(&made);
}

/* Percentages are of the rest. */
static void much_that_is_missing_is_said_in_short(void **state)
{
	(void)state;
	assert_head(
		make_starts, &(struct report_options){ .width = 100 },
		"5.102 s of CPU time in 6.200 s (0.82 CPUs busy), 4,960 samples: "
		"redis-server --port 7777 --save ''\n"
		"missing  3.9 % shorter than a period, 6.9 % unexplained, 2.0 % of processes "
		"not sampled; see\n"
		"         'fathom info'\n"
		"Percentages are of");
	assert_head(
		make_starts, &(struct report_options){ .is_summary = true, .width = 100 },
		"command  redis-server --port 7777 --save ''\n"
		"time     5.102 s of CPU time in 6.200 s (0.82 CPUs busy), 3 threads\n"
		"programs 2 processes, 20 % their starts and ends: redis-server 82 %, busybox "
		"18 %\n"
		"samples  4,960 at 1,000 Hz of CPU time, none lost; sampling took less than 1 "
		"%\n"
		"missing  3.9 % shorter than a period, 6.9 % unexplained, 2.0 % of processes "
		"not sampled; see\n"
		"         'fathom info'\n"
		"\n");
}

static void any_other_view_has_one_line(void **state)
{
	(void)state;
	assert_head(example_init, &(struct report_options){ .width = 200 },
		    "5.102 s of CPU time in 6.200 s (0.82 CPUs busy), 4,960 samples: "
		    "redis-server --port 7777 --save ''\n"
		    "missing  2.0 % is of processes that could not be sampled (busybox: it is "
		    "statically linked); see 'fathom info'\n"
		    "\n");
}

static void make_idle(struct made *made)
{
	example_init(made);
	profile_info(made->profile)->wall_ns = 20000000000;
	profile_info(made->profile)->unentered_ns = 0;
}

static void a_program_that_waits_is_said_to(void **state)
{
	(void)state;
	assert_head(make_idle, &(struct report_options){ .width = 60 },
		    "5.102 s of CPU time in 20.000 s (0.26 CPUs busy: mostly wai…\n"
		    "\n");
}

static void make_crowded_out(struct made *made)
{
	make_idle(made);
	profile_info(made->profile)->machine_ns = 80000000000;
	profile_info(made->profile)->machine_idle_ns = 4000000000;
}

static void a_program_on_a_full_machine_is_not_said_to_wait(void **state)
{
	(void)state;
	assert_head(make_crowded_out, &(struct report_options){ .width = 120 },
		    "5.102 s of CPU time in 20.000 s (0.26 CPUs busy: others used 3.5 of 4), "
		    "4,960 samples:");
}

static void make_brief(struct made *made)
{
	example_init(made);
	profile_info(made->profile)->samples = 2;
	profile_info(made->profile)->kernel_cpu_ns = 3000000;
}

/* Anywhere in a summary. */
static void assert_summary_says(make_profile *make, unsigned int height, const char *said)
{
	const struct report_options options = { .is_summary = true,
						.width = 80,
						.height = height };
	struct made made;
	struct text text = { 0 };

	make(&made);
	assert_int_equal(report_text(made.profile, &options, &text, NULL), 0);
	if (!strstr(text_string(&text), said))
		fail_msg("%s", text_string(&text));
	text_done(&text);
	made_done(&made);
}

static void a_brief_program_is_to_be_run_otherwise(void **state)
{
	(void)state;
	assert_summary_says(make_brief, 0,
			    "brief    too short for more than a few samples: sample it more "
			    "often, or record\n"
			    "         many runs\n");
	assert_summary_says(
		make_brief, 0,
		"\n\n"
		"fathom record --clock wall -- redis-server --port 7777 --save ''\n"
		"fathom record --rate 20000 -- redis-server --port 7777 --save ''\n");
}

static void make_attached_idle(struct made *made)
{
	make_brief(made);
	profile_info(made->profile)->pids = "[12,13]";
}

static void a_process_that_hardly_ran_is_idle(void **state)
{
	(void)state;
	assert_summary_says(make_attached_idle, 0,
			    "idle     it hardly ran: too little for shares of it\n\n"
			    "note     busybox (pid 4242) is statically linked: its time is not "
			    "entered\n\n"
			    "fathom record --clock wall -p 12 -p 13  what it waits for\n"
			    "fathom dump 12                          where it is now\n");
}

/* The kernel's count of its processors' time is of ticks. */
static void make_a_process_crowded_out(struct made *made)
{
	make_crowded_out(made);
	profile_info(made->profile)->pids = "[12]";
}

static void what_it_waited_for_is_a_step_on_a_full_machine_too(void **state)
{
	(void)state;
	assert_summary_says(
		make_a_process_crowded_out, 40,
		"fathom record --clock wall -p 12  what it waits for, if not a CPU\n");
	/* And not in place of another. */
	assert_summary_says(make_a_process_crowded_out, 40, "\nfathom report --by package");
	assert_summary_says(make_a_process_crowded_out, 40, "\nfathom open ");
}

static void make_short_and_crowded_out(struct made *made)
{
	make_crowded_out(made);
	profile_info(made->profile)->wall_ns = 24000000;
	profile_info(made->profile)->kernel_cpu_ns = 2000000;
}

static void make_counted_in_ticks(struct made *made)
{
	make_crowded_out(made);
	profile_info(made->profile)->kernel_cpu_ns = 2000000;
	profile_info(made->profile)->wall_ns = 19500000000;
	profile_info(made->profile)->machine_idle_ns = 0;
}

static void others_use_no_more_than_there_is(void **state)
{
	(void)state;
	assert_head(make_short_and_crowded_out, &(struct report_options){ .width = 120 },
		    "2.00 ms of CPU time in 24.00 ms (0.08 CPUs busy), 4,960 samples:");
	assert_head(make_counted_in_ticks, &(struct report_options){ .width = 120 },
		    "2.00 ms of CPU time in 19.500 s (0.00 CPUs busy: others used 4.0 of 4), "
		    "4,960 samples:");
}

#define SHOP "/srv/shop/app.py"

static void make_chain(struct made *made)
{
	made_init(made);
	made_add(made,
		 "%serve_the_requests_of_the_shop@" SHOP ":1;%order@" SHOP ":9;"
		 "%order.<locals>.<listcomp>@" SHOP ":10",
		 400, 400);
}

/* What is of the function before it is nothing without its name. */
static void a_chain_that_is_cut_keeps_the_function_of_a_local_one(void **state)
{
	(void)state;
	assert_summary_says(make_chain, 0, "  … → order → <listcomp>");
}

static void a_program_that_waits_is_to_be_looked_at_by_the_clock(void **state)
{
	(void)state;
	assert_summary_says(make_idle, 0,
			    "\n\n"
			    "fathom record --clock wall -- redis-server --port 7777 --save ''");
}

/* With the line of the next prompt. */
static size_t lines_of_summary(unsigned int height)
{
	const struct report_options options = { .is_summary = true,
						.width = 80,
						.height = height };
	struct made made;
	struct text text = { 0 };
	size_t lines = 1;

	example_init(&made);
	profile_info(made.profile)->unentered_ns = 0;
	profile_info(made.profile)->note_count = 0;
	assert_int_equal(report_text(made.profile, &options, &text, NULL), 0);
	for (size_t i = 0; i < text.len; i++)
		lines += text.data[i] == '\n';
	text_done(&text);
	made_done(&made);
	return lines;
}

static void a_summary_fits_the_terminal(void **state)
{
	(void)state;
	for (unsigned int height = 24; height < 50; height++)
		assert_in_range(lines_of_summary(height), 20, height);
	assert_int_equal(lines_of_summary(24), 24);
}

static void info_has_every_row_and_process(void **state)
{
	(void)state;
	assert_info(
		example_init,
		"command  redis-server --port 7777 --save ''\n"
		"recorded 2025-11-21 07:12:12 UTC by fathom 0.1.0 on Linux 6.1.0-18-amd64 "
		"x86_64\n"
		"time     5.102 s of CPU time in 6.200 s (0.82 CPUs busy), 2 processes, 3 "
		"threads\n"
		"samples  4,960 at 1,000 Hz of CPU time (asked for 1,000 Hz), none lost\n"
		"trigger  sigtrap, clock cpu: perf events may be opened here\n"
		"period   999,983 ns, drawn within 5 % of the one asked for; each process has "
		"its "
		"own\n"
		"cost     31.00 ms for the sampling itself, less than 1 % of the programs' CPU "
		"time\n"
		"note     busybox (pid 4242) is statically linked: its time is not entered\n"
		"\n"
		"CPU account\n"
		"       4.960 s   97.2 %  sampled       what the samples stand for\n"
		"       0.018 s    0.4 %  start-up      before the first instruction that "
		"could be sampled\n"
		"       0.002 s    0.0 %  exit          after the last instruction\n"
		"       0.100 s    2.0 %  not entered   processes that could not be sampled: "
		"busybox (pid 4242,\n"
		"                                       100.0 ms)\n"
		"       0.000 s    0.0 %  kernel        system time that could not be sampled\n"
		"       0.022 s    0.4 %  unexplained\n"
		"  ------------  -------\n"
		"       5.102 s  100.0 %  charged       the CPU time the kernel charged to "
		"everything that ran\n"
		"\n"
		"samples  share %  stacks    why the walk ended\n"
		"  4,951    99.82  complete  reached the outermost frame\n"
		"      9     0.18  no_rule   no unwind rule for an address in a mapped file\n"
		"\n"
		"charged  accounted  samples  period ns   pid  process       not entered "
		"because\n"
		"5.002 s    4.980 s    4,960    999,983  4200  redis-server\n"
		"0.100 s    0.100 s        0          -  4242  busybox       it is statically "
		"linked\n");
}

static void info_of_an_empty_profile(void **state)
{
	(void)state;
	assert_info(
		make_empty,
		"recorded at an unknown time\n"
		"time     0 ns of CPU time, 0 processes, 0 threads\n"
		"samples  0, none lost\n"
		"cost     of sampling: not known\n"
		"\n"
		"CPU account\n"
		"          0 ns    0.0 %  sampled       what the samples stand for\n"
		"          0 ns    0.0 %  start-up      before the first instruction that "
		"could be sampled\n"
		"          0 ns    0.0 %  exit          after the last instruction\n"
		"          0 ns    0.0 %  not entered   processes that could not be sampled\n"
		"          0 ns    0.0 %  kernel        system time that could not be sampled\n"
		"     not known           unexplained\n"
		"  ------------  -------\n"
		"          0 ns    0.0 %  together      the kernel's own figure is not known "
		"here, so nothing says\n"
		"                                       what is missing\n");
}

static void info_of_foreign_bytes_and_limits(void **state)
{
	(void)state;
	assert_info(
		example_init_hostile,
		"command  '\\xff\"\\\\x0a' ''\n"
		"recorded 2554-07-21 23:34:33 UTC\n"
		"time     18446744073.7 s of CPU time, 1 process, 1 thread, not finished: "
		"its recorder was killed\n"
		"samples  18,446,744,073,709,551,615 (asked for 18,446,744,073,709,551,615 "
		"Hz),\n"
		"         18,446,744,073,709,551,614 lost (50.0 %)\n"
		"trigger  \\xff, clock cpu\n"
		"period   18,446,744,073,709,551,615 ns, drawn within 5 % of the one asked "
		"for; "
		"each process has its\n"
		"         own\n"
		"cost     of sampling: not known\n"
		"note     \\x1b[2J\\xc3\n"
		"\n"
		"CPU account\n"
		"     not known           sampled       what the samples stand for\n"
		"     not known           start-up      before the first instruction that "
		"could be sampled\n"
		"18446744073.7 s  100.0 %  exit          after the last instruction\n"
		"         0.0 s    0.0 %  not entered   processes that could not be sampled\n"
		"         0.0 s    0.0 %  kernel        system time that could not be sampled\n"
		"-9223372036.9 s  -50.0 %  unexplained\n"
		"  ------------  -------\n"
		"18446744073.7 s  100.0 %  together      the kernel's own figure is not known "
		"here, so nothing says\n"
		"                                       what is missing\n"
		"\n"
		"                   samples  share %  stacks    why the walk ended\n"
		"18,446,744,073,709,551,615   100.00  complete  whole\n"
		"\n"
		"charged        accounted                     samples  period ns  pid  process "
		"          not entered because\n"
		"      -  18446744073.7 s  18,446,744,073,709,551,615          -   -1  "
		"\\x1b]0;owned\\x07\n");
}

static void make_user_clock(struct made *made)
{
	example_init(made);
	profile_info(made->profile)->clock = "user";
}

static void assert_head_says(make_profile *make, const char *sentence)
{
	struct made made;
	struct text text = { 0 };

	make(&made);
	report_info_text(made.profile, &(struct report_options){ 0 }, &text);
	assert_int_equal(report_text(made.profile, &(struct report_options){ 0 }, &text, NULL),
			 0);
	if (!strstr(text_string(&text), sentence))
		fail_msg("\"%s\" is not in\n%s", sentence, text_string(&text));
	text_done(&text);
	made_done(&made);
}

static void the_user_clock_is_named_in_every_sum(void **state)
{
	(void)state;
	assert_head_says(make_user_clock, "5.102 s of user CPU time in 6.200 s");
	assert_head_says(make_user_clock, "trigger  sigtrap, clock user:");
	assert_head_says(make_user_clock, "charged       the user time the kernel charged to");
}

static void make_lossy(struct made *made)
{
	example_init(made);
	profile_info(made->profile)->lost = 1240;
}

static void lost_samples_are_counted(void **state)
{
	(void)state;
	assert_head_says(make_lossy, "(asked for 1,000 Hz), 1,240 lost (20.0 %)");
}

static void make_shaky(struct made *made)
{
	example_init(made);
	profile_info(made->profile)->stacks[0].samples = 800;
	profile_info(made->profile)->stacks[1].samples = 200;
}

static void stacks_that_are_cut_short_are_missing(void **state)
{
	(void)state;
	assert_head(make_shaky, &(struct report_options){ .width = 60 },
		    "5.102 s of CPU time in 6.200 s (0.82 CPUs busy), 4,960 samp…\n"
		    "missing  20.0 % of stacks cut short by code without unwind\n"
		    "         rules, 2.0 % of processes not sampled; see\n");
}

static void make_saturated(struct made *made)
{
	made_init(made);
	made_add(made, "main", UINT64_MAX, 1);
	made_add(made, "main", 1, 1);
}

static void sums_that_do_not_fit_are_said(void **state)
{
	(void)state;
	assert_head_says(make_saturated, "Some sums exceed 2^64 ns and are cut");
}

static void make_crowd(struct made *made)
{
	struct process unentered = { .name = "tiny", .unentered_reason = "static" };

	example_init(made);
	for (unentered.pid = 1; unentered.pid <= 9; unentered.pid++)
		profile_add_process(made->profile, &unentered);
}

static void of_many_processes_not_entered_some_are_named(void **state)
{
	(void)state;
	assert_head_says(make_crowd, "sampled: busybox (pid 4242,\n                            "
				     "           100.0 ms), tiny (pid 1)");
	assert_head_says(make_crowd, "tiny (pid 3) and 6\n");
}

static void interpreters_are_named_with_what_became_of_their_frames(void **state)
{
	struct made made;
	struct text text = { 0 };

	(void)state;
	example_init_python(&made, "/srv/app/worker.py");
	struct report_options options = { 0 };
	assert_int_equal(report_text(made.profile, &options, &text, NULL), 0);
	assert_non_null(strstr(text_string(&text), "functions of python 3.16? are not seen"));
	text_clear(&text);
	report_info_text(made.profile, &options, &text);
	assert_non_null(
		strstr(text_string(&text),
		       "        3  python 3.11.2  /usr/bin/python3.11  are in the "
		       "stacks, its own C functions are not (report --native)\n"
		       "        1  python 3.16?   /opt/bin/python3.16  CPython 3.16 is not "
		       "known yet\n"));
	assert_non_null(
		strstr(text_string(&text), "pid  process  not entered because  interpreter\n"));
	assert_non_null(strstr(text_string(&text),
			       "100  python3                       python 3.11.2\n"));
	profile_info(made.profile)->is_folded = false;
	text_clear(&text);
	report_info_text(made.profile, &options, &text);
	assert_non_null(strstr(text_string(&text), "/usr/bin/python3.11  are in the stacks\n"));
	text_done(&text);
	made_done(&made);
}

static void stacks_that_end_in_compiled_code_are_not_cut_short(void **state)
{
	static struct stack_tally tally[] = {
		{ "complete", "reached the outermost frame", 60 },
		{ "native_no_rule", "whole but for native frames beyond code without rules",
		  10 },
		{ "made_code", "whole but for native frames beyond code made", 30 },
	};
	struct made made;
	struct text text = { 0 };

	(void)state;
	made_init(&made);
	made_add(&made, "main", 1, 1);
	profile_info(made.profile)->stacks = tally;
	profile_info(made.profile)->stack_tally_count = 3;
	assert_int_equal(report_text(made.profile, &(struct report_options){ 0 }, &text, NULL),
			 0);
	assert_null(strstr(text_string(&text), "cut short"));
	text_done(&text);
	made_done(&made);
}

static char *package_of_none(const char *path)
{
	(void)path;
	return NULL;
}

static void assert_names(const char *first, const char *second, const char *said)
{
	const struct report_options options = { .is_summary = true,
						.width = 200,
						.package_of = package_of_none };
	struct made made;
	struct text text = { 0 };

	made_init(&made);
	made_add(&made, first, 50, 5);
	made_add(&made, second, 50, 5);
	assert_int_equal(report_text(made.profile, &options, &text, NULL), 0);
	if (!strstr(text_string(&text), said))
		fail_msg("%s", text_string(&text));
	text_done(&text);
	made_done(&made);
}

static void code_without_symbols_has_a_remedy(void **state)
{
	(void)state;
	assert_names("main;/opt/prog!prog+0x10+1", "main;/opt/prog!work",
		     "50.0 % is in code without names, mostly prog: no package has it; built "
		     "without '-s' and not stripped it has them");
	assert_names("main;/opt/prog!prog+0x10+1", "/opt/prog!hs_main;/opt/prog!evacuate",
		     "of your own code 'ghc -g' has it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_on_a_full_machine_is_not_said_to_wait),
		cmocka_unit_test(a_brief_program_is_to_be_run_otherwise),
		cmocka_unit_test(a_process_that_hardly_ran_is_idle),
		cmocka_unit_test(what_it_waited_for_is_a_step_on_a_full_machine_too),
		cmocka_unit_test(others_use_no_more_than_there_is),
		cmocka_unit_test(a_chain_that_is_cut_keeps_the_function_of_a_local_one),
		cmocka_unit_test(a_program_that_waits_is_to_be_looked_at_by_the_clock),
		cmocka_unit_test(a_summary_fits_the_terminal),
		cmocka_unit_test(stacks_that_end_in_compiled_code_are_not_cut_short),
		cmocka_unit_test(interpreters_are_named_with_what_became_of_their_frames),
		cmocka_unit_test(a_summary_has_three_lines_and_what_is_missing),
		cmocka_unit_test(starts_of_processes_are_said_above_and_have_no_row),
		cmocka_unit_test(much_that_is_missing_is_said_in_short),
		cmocka_unit_test(any_other_view_has_one_line),
		cmocka_unit_test(a_program_that_waits_is_said_to),
		cmocka_unit_test(info_has_every_row_and_process),
		cmocka_unit_test(info_of_an_empty_profile),
		cmocka_unit_test(info_of_foreign_bytes_and_limits),
		cmocka_unit_test(the_user_clock_is_named_in_every_sum),
		cmocka_unit_test(lost_samples_are_counted),
		cmocka_unit_test(stacks_that_are_cut_short_are_missing),
		cmocka_unit_test(code_without_symbols_has_a_remedy),
		cmocka_unit_test(sums_that_do_not_fit_are_said),
		cmocka_unit_test(of_many_processes_not_entered_some_are_named),
	};

	/* Columns of a name are counted in UTF-8, as on a person's terminal. */
	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
