#include "cmocka_all.h"

#include <locale.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "example.h"
#include "report/report.h"

static void assert_body(const struct report_options *options, const char *expected)
{
	struct made made;
	struct text text = { 0 };

	example_init(&made);
	assert_int_equal(report_text(made.profile, options, &text, NULL), 0);
	assert_string_equal(example_body_of(text_string(&text)), expected);
	text_done(&text);
	made_done(&made);
}

static void functions_that_pass_their_time_on_stand_on_one_line(void **state)
{
	(void)state;
	assert_body(
		&(struct report_options){ .has_tree = true },
		"total %  self %  total time  call tree\n"
		"   92.1     1.8     4.680 s  _start → __libc_start_main → main → aeMain → "
		"aeProcessEvents\n"
		"   53.0     0.0     2.690 s    readQueryFromClient → processCommand → call\n"
		"   36.4    23.8     1.850 s      dictFind\n"
		"   12.6    12.6     0.640 s        ~dictSdsKeyCompare\n"
		"   16.5     0.0     0.840 s      setCommand\n"
		"   10.4    10.4     0.530 s        malloc → _int_malloc\n"
		"    6.1     6.1     0.310 s        dictFind\n"
		"   37.4    37.4     1.900 s    handleClientsWithPendingWrites → write\n"
		"    5.5     5.5     0.280 s  clone3 → start_thread → bioProcessBackgroundJobs "
		"→ cfree\n"
		"    2.0     2.0     0.100 s  [not entered: busybox]\n"
		"… 2 lighter calls not shown (--min 0.5 and -n 60 decide)\n");
}

static void a_chain_breaks_where_the_terminal_ends(void **state)
{
	(void)state;
	assert_body(&(struct report_options){ .has_tree = true, .width = 60, .max_rows = 5 },
		    "total %  self %  total time  call tree\n"
		    "   92.1     1.8     4.680 s  _start → __libc_start_main\n"
		    "                             → main → aeMain\n"
		    "                             → aeProcessEvents\n"
		    "   53.0     0.0     2.690 s    readQueryFromClient\n"
		    "                               → processCommand → call\n"
		    "   36.4    23.8     1.850 s      dictFind\n"
		    "   16.5     0.0     0.840 s      setCommand\n"
		    "   37.4    37.4     1.900 s    handleClients…PendingWrites\n"
		    "                               → write\n"
		    "… 11 lighter calls not shown (--min 0.5 and -n 5 decide)\n");
}

static void the_tree_of_one_thread(void **state)
{
	(void)state;
	assert_body(&(struct report_options){ .has_tree = true, .thread = "bio_lazy_free" },
		    "Percentages are of 280.0 ms: thread bio_lazy_free (tid 4203), which is "
		    "5.5 % of the 5.080 s\n"
		    "recorded.\n"
		    "\n"
		    "total %  self %  total time  call tree\n"
		    "  100.0   100.0    280.0 ms  clone3 → start_thread → "
		    "bioProcessBackgroundJobs → cfree\n");
}

static void callers_are_shares_of_the_functions_time(void **state)
{
	(void)state;
	assert_body(&(struct report_options){ .callers = "dictFind" },
		    "Callers of dictFind: percentages are of its 2.160 s, which is 42.5 % of "
		    "the above.\n"
		    "\n"
		    "total %  total time  called from\n"
		    "  100.0     2.160 s  dictFind\n"
		    "   85.6     1.850 s    call → processCommand → readQueryFromClient → "
		    "aeProcessEvents → aeMain → main\n"
		    "                       → __libc_start_main → _start\n"
		    "   14.4     0.310 s    setCommand → call → processCommand → "
		    "readQueryFromClient → aeProcessEvents\n"
		    "                       → aeMain → main → __libc_start_main → _start\n");
}

static void callees_are_shares_of_the_functions_time(void **state)
{
	(void)state;
	assert_body(&(struct report_options){ .callees = "call" },
		    "Callees of call: percentages are of its 2.690 s, which is 53.0 % of the "
		    "above.\n"
		    "\n"
		    "total %  self %  total time  calls\n"
		    "  100.0     0.0     2.690 s  call\n"
		    "   68.8    45.0     1.850 s    dictFind\n"
		    "   23.8    23.8     0.640 s      ~dictSdsKeyCompare\n"
		    "   31.2     0.0     0.840 s    setCommand\n"
		    "   19.7    19.7     0.530 s      malloc → _int_malloc\n"
		    "   11.5    11.5     0.310 s      dictFind\n");
}

static void tree_callers_and_callees_stand_below_each_other(void **state)
{
	(void)state;
	assert_body(
		&(struct report_options){ .has_tree = true,
					  .callers = "malloc",
					  .callees = "malloc",
					  .max_rows = 2 },
		"total %  self %  total time  call tree\n"
		"   92.1     1.8     4.680 s  _start → __libc_start_main → main → aeMain → "
		"aeProcessEvents\n"
		"   53.0     0.0     2.690 s    readQueryFromClient → processCommand → call\n"
		"… 15 lighter calls not shown (--min 0.5 and -n 2 decide)\n"
		"\n"
		"Callers of malloc: percentages are of its 530.0 ms, which is 10.4 % of the "
		"above.\n"
		"\n"
		"total %  total time  called from\n"
		"  100.0    530.0 ms  malloc\n"
		"  100.0    530.0 ms    setCommand → call → processCommand → "
		"readQueryFromClient → aeProcessEvents\n"
		"                       → aeMain → main → __libc_start_main → _start\n"
		"\n"
		"Callees of malloc: percentages are of its 530.0 ms, which is 10.4 % of the "
		"above.\n"
		"\n"
		"total %  self %  total time  calls\n"
		"  100.0     0.0    530.0 ms  malloc\n"
		"  100.0   100.0    530.0 ms    _int_malloc\n");
}

static void assert_refused(const struct report_options *options, const char *sentence)
{
	struct made made;
	struct text text = { 0 };
	struct error err;

	example_init(&made);
	assert_true(report_text(made.profile, options, &text, &err) < 0);
	assert_string_equal(err.text, sentence);
	assert_int_equal(text.len, 0);
	made_done(&made);
}

static void a_function_that_is_not_there_is_refused(void **state)
{
	(void)state;
	assert_refused(&(struct report_options){ .callers = "dictFimd" },
		       "no function in this profile is named \"dictFimd\"; near it: dictFind");
	assert_refused(&(struct report_options){ .callees = "dictFimd" },
		       "no function in this profile is named \"dictFimd\"; near it: dictFind");
	assert_refused(&(struct report_options){ .callers = "Clients", .callees = "nothing" },
		       "no function in this profile is named \"nothing\", and none has it in "
		       "its name");
}

static void assert_tree_ends(struct made *made, size_t max_rows, const char *end)
{
	struct text text = { 0 };
	const struct report_options options = { .has_tree = true, .max_rows = max_rows };

	assert_int_equal(report_text(made->profile, &options, &text, NULL), 0);
	const char *tree = strstr(text_string(&text), "call tree\n");
	assert_non_null(tree);
	assert_string_equal(tree, end);
	text_done(&text);
	made_done(made);
}

static void a_function_that_keeps_a_visible_share_has_its_own_line(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "main", 1000000, 1);
	made_add(&made, "main;f", 99000000, 99);
	assert_tree_ends(&made, 0,
			 "call tree\n"
			 "  100.0     1.0    100.0 ms  main\n"
			 "   99.0    99.0     99.0 ms    f\n");
	made_init(&made);
	made_add(&made, "main", 1000, 1);
	made_add(&made, "main;f", 99000000, 99);
	assert_tree_ends(&made, 0,
			 "call tree\n"
			 "  100.0   100.0    99.00 ms  main → f\n");
}

static void of_equal_calls_the_first_are_shown(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	for (int i = 0; i < 4; i++) {
		char stack[] = { 'm', ';', (char)('d' - i), '\0' };
		made_add(&made, stack, 10000000, 10);
	}
	assert_tree_ends(&made, 3,
			 "call tree\n"
			 "  100.0     0.0    40.00 ms  m\n"
			 "   25.0    25.0    10.00 ms    d\n"
			 "   25.0    25.0    10.00 ms    c\n"
			 "… 2 lighter calls not shown (--min 0.5 and -n 3 decide)\n");
}

/* Deeper than any stack of the machine could follow by calling itself. */
static void a_very_deep_recursion_is_written_nevertheless(void **state)
{
	enum { DEPTH = 200000 };
	struct made made;
	struct text text = { 0 };
	struct stack_id stack = { 0 };
	const struct report_options options = { .has_tree = true,
						.max_rows = REPORT_ALL_ROWS,
						.has_min_percent = true };

	(void)state;
	made_init(&made);
	struct function_id f =
		profile_add_function(made.profile, &(struct function){ .name = "f" });
	struct frame_id frame =
		profile_add_frame(made.profile, &(struct frame){ .function = f });
	for (int i = 0; i < DEPTH; i++) {
		stack = profile_add_stack(made.profile, stack, frame);
		if (i % 1000 == 0)
			profile_add_weight(made.profile,
					   &(struct weight){ .stack = stack, .ns = 1000000 });
	}
	assert_int_equal(report_text(made.profile, &options, &text, NULL), 0);
	assert_non_null(strstr(text_string(&text), "  f → f → f"));
	assert_null(strstr(text_string(&text), "not shown"));
	text_done(&text);
	made_done(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_that_pass_their_time_on_stand_on_one_line),
		cmocka_unit_test(a_chain_breaks_where_the_terminal_ends),
		cmocka_unit_test(the_tree_of_one_thread),
		cmocka_unit_test(callers_are_shares_of_the_functions_time),
		cmocka_unit_test(callees_are_shares_of_the_functions_time),
		cmocka_unit_test(tree_callers_and_callees_stand_below_each_other),
		cmocka_unit_test(a_function_that_keeps_a_visible_share_has_its_own_line),
		cmocka_unit_test(of_equal_calls_the_first_are_shown),
		cmocka_unit_test(a_function_that_is_not_there_is_refused),
		cmocka_unit_test(a_very_deep_recursion_is_written_nevertheless),
	};

	/* Columns of a name are counted in UTF-8, as on a person's terminal. */
	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
