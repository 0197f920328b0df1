#include "cmocka_all.h"

#include <string.h>

#include "base/text.h"
#include "made.h"
#include "profile/filter.h"
#include "profile/group.h"

/* Rows as lines a test can state: "name file:line self/total". */
static void assert_groups(const struct made *made, enum group_by by, bool is_by_total,
			  const char *thread, const char *expected)
{
	struct filter *filter;
	struct groups groups;
	struct text text = { 0 };
	uint64_t self_ns = 0;

	assert_int_equal(filter_new(made->profile, &(struct filter_options){ .thread = thread },
				    &filter, NULL),
			 0);
	groups_make(made->profile, by, filter, &groups);
	if (is_by_total)
		groups_sort_by_total(&groups);
	for (size_t i = 0; i < groups.count; i++) {
		const struct group *row = &groups.rows[i];
		text_addf(&text, "%s %s:%u %lu/%lu\n", row->name, row->file ? row->file : "",
			  row->line, (unsigned long)row->cost.self_ns,
			  (unsigned long)row->cost.total_ns);
		self_ns += row->cost.self_ns;
	}
	assert_string_equal(text_string(&text), expected);
	assert_true(self_ns == groups.ns);
	text_done(&text);
	groups_done(&groups);
	filter_free(filter);
}

static void setup(struct made *made)
{
	made_init(made);
	made_add(made, "prog!main@main.c:1+5;prog!run@run.c:10+12;libz!deflate@z.c:3+7", 30, 1);
	made_add(made, "prog!main@main.c:1+5;prog!run@run.c:10+13", 20, 1);
	made_add(made, "prog!main@main.c:1+6;prog!run@run.c:10+13;prog!run@run.c:10+13", 5, 1);
	made_begin_process(made, 200, "child");
	made_begin_thread(made, 201, "worker");
	made_add(made, "libz!deflate@z.c:3+7;libz!deflate@z.c:3+8", 40, 1);
	made_begin_thread(made, 202, "idle");
	made_add(made, "[exit]", 2, 0);
}

static void by_function(void **state)
{
	struct made made;

	(void)state;
	setup(&made);
	assert_groups(&made, GROUP_BY_FUNCTION, false, NULL,
		      "deflate z.c:3 70/70\n"
		      "run run.c:10 25/55\n"
		      "[exit] :0 2/2\n"
		      "main main.c:1 0/55\n");
	made_done(&made);
}

static void by_function_sorted_by_total(void **state)
{
	struct made made;

	(void)state;
	setup(&made);
	assert_groups(&made, GROUP_BY_FUNCTION, true, NULL,
		      "deflate z.c:3 70/70\n"
		      "run run.c:10 25/55\n"
		      "main main.c:1 0/55\n"
		      "[exit] :0 2/2\n");
	made_done(&made);
}

static void by_line_counts_a_line_once_however_often_it_recurs(void **state)
{
	struct made made;

	(void)state;
	setup(&made);
	assert_groups(&made, GROUP_BY_LINE, false, NULL,
		      "deflate z.c:8 40/40\n"
		      "deflate z.c:7 30/70\n"
		      "run run.c:13 25/25\n"
		      "[exit] :0 2/2\n"
		      "main main.c:5 0/50\n"
		      "run run.c:12 0/30\n"
		      "main main.c:6 0/5\n");
	made_done(&made);
}

static void by_module_names_what_is_in_none(void **state)
{
	struct made made;

	(void)state;
	setup(&made);
	made_add(&made, "nowhere", 1, 1);
	assert_groups(&made, GROUP_BY_MODULE, false, NULL,
		      "libz :0 70/70\n"
		      "prog :0 25/55\n"
		      "[exit] :0 2/2\n"
		      "[no module] :0 1/1\n");
	made_done(&made);
}

static void by_region_is_by_the_innermost_and_has_the_rest_together(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "main", 3, 1);
	made_add(&made, "main;[region load];read", 10, 1);
	made_add(&made, "main;[region load];read;[region parse];lex", 20, 1);
	made_add(&made, "main;[region load];read;[region load];read", 40, 1);
	made_add(&made, "main;[region parse]", 7, 1);
	assert_groups(&made, GROUP_BY_REGION, false, NULL,
		      "[region load] :0 50/70\n"
		      "[region parse] :0 27/27\n"
		      "[no region] :0 3/3\n");
	made_done(&made);
}

static void python_has_its_source_for_a_module(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "%f@a.py:1", 3, 1);
	made_add(&made, "%g@a.py:9;%math.sin", 2, 1);
	made_add(&made, "%g@a.py:9;%builtins.sorted", 2, 1);
	assert_groups(&made, GROUP_BY_MODULE, false, NULL,
		      "[Python's built-in functions] :0 4/4\n"
		      "a.py :0 3/7\n");
	made_done(&made);
}

static void ruby_has_its_source_for_a_module_and_garbage_is_collected_in_none(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "^<main>@a.rb:1;^Foo#bar@b.rb:1", 5, 1);
	made_add(&made, "^<main>@a.rb:1;^Array#each", 3, 1);
	made_add(&made, "^<main>@a.rb:1;^String#<<;^[garbage collection: marking]", 2, 1);
	made_add(&made, "%math.sin", 1, 1);
	made_add(&made, "^[unknown Ruby method]", 1, 1);
	assert_groups(&made, GROUP_BY_MODULE, false, NULL,
		      "b.rb :0 5/5\n"
		      "[Ruby's built-in methods] :0 3/5\n"
		      "[garbage collection: marking] :0 2/2\n"
		      "[Python's built-in functions] :0 1/1\n"
		      "[unknown Ruby method] :0 1/1\n"
		      "a.rb :0 0/10\n");
	made_done(&made);
}

static void what_is_not_known_of_python_is_not_a_builtin(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "%[unknown Python function]", 3, 1);
	made_add(&made, "%compiled_without_a_file@:7", 2, 1);
	made_add(&made, "%math.sin", 1, 1);
	assert_groups(&made, GROUP_BY_MODULE, false, NULL,
		      "[unknown Python function] :0 3/3\n"
		      "[no module] :0 2/2\n"
		      "[Python's built-in functions] :0 1/1\n");
	made_done(&made);
}

static void by_thread_and_by_process_show_the_idle_too(void **state)
{
	struct made made;

	(void)state;
	setup(&made);
	made_begin_process(&made, 300, "lazy");
	made_begin_thread(&made, 300, "lazy");
	assert_groups(&made, GROUP_BY_THREAD, false, NULL,
		      "prog :0 55/55\n"
		      "worker :0 40/40\n"
		      "idle :0 2/2\n"
		      "lazy :0 0/0\n");
	assert_groups(&made, GROUP_BY_PROCESS, false, NULL,
		      "prog :0 55/55\n"
		      "child :0 42/42\n"
		      "lazy :0 0/0\n");
	made_done(&made);
}

static const struct group *row_named(const struct groups *groups, const char *name)
{
	for (size_t i = 0; i < groups->count; i++) {
		if (strcmp(groups->rows[i].name, name) == 0)
			return &groups->rows[i];
	}
	return NULL;
}

static void add_unentered(struct made *made, int pid, const char *reason)
{
	made->process = profile_add_process(
		made->profile,
		&(struct process){
			.pid = pid, .name = "cc", .cpu_ns = 5, .unentered_reason = reason });
	made_begin_thread(made, pid, "cc");
	made_add(made, "[not entered: cc]", 5, 0);
}

static void by_program_sums_processes_of_one_name_and_counts_the_brief(void **state)
{
	struct made made;
	struct groups groups;

	(void)state;
	setup(&made);
	made_begin_process(&made, 300, "cc");
	made_begin_thread(&made, 300, "cc");
	made_add(&made, "main", 4, 1);
	made_begin_process(&made, 301, "cc");
	made_begin_thread(&made, 301, "cc");
	made_add(&made, "[exit]", 3, 0);
	add_unentered(&made, 302, "it is static");
	profile_add_process(made.profile, &(struct process){ .pid = 304,
							     .name = "cc",
							     .unentered_reason = "too short",
							     .is_too_brief = true });
	assert_groups(&made, GROUP_BY_PROGRAM, false, NULL,
		      "prog :0 55/55\n"
		      "child :0 42/42\n"
		      "cc :0 12/12\n");
	groups_make(made.profile, GROUP_BY_PROGRAM, NULL, &groups);
	const struct group_program *cc = &row_named(&groups, "cc")->program;
	assert_int_equal(cc->processes, 4);
	assert_int_equal(cc->entered, 2);
	assert_int_equal(cc->brief, 2);
	assert_int_equal(cc->cpu_ns, 5);
	assert_string_equal(cc->unentered_reason, "it is static");
	assert_false(cc->has_more_reasons);
	groups_done(&groups);
	add_unentered(&made, 303, "it is another user's");
	groups_make(made.profile, GROUP_BY_PROGRAM, NULL, &groups);
	assert_true(row_named(&groups, "cc")->program.has_more_reasons);
	assert_int_equal(row_named(&groups, "prog")->program.brief, 0);
	groups_done(&groups);
	made_done(&made);
}

static void by_program_a_filter_counts_the_processes_it_keeps(void **state)
{
	struct made made;
	struct filter *filter;
	struct groups groups;

	(void)state;
	setup(&made);
	made_begin_process(&made, 300, "child");
	made_begin_thread(&made, 300, "other");
	made_add(&made, "main", 4, 1);
	assert_int_equal(filter_new(made.profile,
				    &(struct filter_options){ .thread = "worker" }, &filter,
				    NULL),
			 0);
	groups_make(made.profile, GROUP_BY_PROGRAM, filter, &groups);
	assert_int_equal(groups.count, 1);
	assert_string_equal(groups.rows[0].name, "child");
	assert_int_equal(groups.rows[0].program.processes, 1);
	assert_int_equal(groups.rows[0].program.brief, 0);
	groups_done(&groups);
	filter_free(filter);
	made_done(&made);
}

static void time_on_no_thread_has_a_row(void **state)
{
	struct profile *p = profile_new();
	struct made made = { .profile = p };

	(void)state;
	made_add(&made, "main", 9, 1);
	assert_groups(&made, GROUP_BY_THREAD, false, NULL, "[no thread] :0 9/9\n");
	assert_groups(&made, GROUP_BY_PROCESS, false, NULL, "[no process] :0 9/9\n");
	assert_groups(&made, GROUP_BY_PROGRAM, false, NULL, "[no process] :0 9/9\n");
	profile_free(p);
}

static void a_filter_drops_the_rows_it_empties(void **state)
{
	struct made made;

	(void)state;
	setup(&made);
	assert_groups(&made, GROUP_BY_FUNCTION, false, "worker", "deflate z.c:3 40/40\n");
	assert_groups(&made, GROUP_BY_MODULE, false, "worker", "libz :0 40/40\n");
	assert_groups(&made, GROUP_BY_THREAD, false, "worker", "worker :0 40/40\n");
	made_done(&made);
}

static void an_empty_profile_has_no_rows(void **state)
{
	struct profile *p = profile_new();
	struct made made = { .profile = p };

	(void)state;
	for (int by = 0; by < GROUP_BY_COUNT; by++)
		assert_groups(&made, (enum group_by)by, true, NULL, "");
	profile_free(p);
}

static void groupings_are_known_by_name(void **state)
{
	enum group_by by = GROUP_BY_FUNCTION;

	(void)state;
	for (int i = 0; i < GROUP_BY_COUNT; i++) {
		assert_true(group_by_parse(group_by_name((enum group_by)i), &by));
		assert_int_equal(by, i);
	}
	assert_false(group_by_parse("colour", &by));
	assert_false(group_by_parse("", &by));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_function),
		cmocka_unit_test(by_function_sorted_by_total),
		cmocka_unit_test(by_line_counts_a_line_once_however_often_it_recurs),
		cmocka_unit_test(by_module_names_what_is_in_none),
		cmocka_unit_test(by_region_is_by_the_innermost_and_has_the_rest_together),
		cmocka_unit_test(python_has_its_source_for_a_module),
		cmocka_unit_test(
			ruby_has_its_source_for_a_module_and_garbage_is_collected_in_none),
		cmocka_unit_test(what_is_not_known_of_python_is_not_a_builtin),
		cmocka_unit_test(by_thread_and_by_process_show_the_idle_too),
		cmocka_unit_test(by_program_sums_processes_of_one_name_and_counts_the_brief),
		cmocka_unit_test(by_program_a_filter_counts_the_processes_it_keeps),
		cmocka_unit_test(time_on_no_thread_has_a_row),
		cmocka_unit_test(a_filter_drops_the_rows_it_empties),
		cmocka_unit_test(an_empty_profile_has_no_rows),
		cmocka_unit_test(groupings_are_known_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
