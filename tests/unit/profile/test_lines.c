#include "cmocka_all.h"

#include <string.h>

#include "made.h"
#include "profile/filter.h"
#include "profile/find.h"
#include "profile/lines.h"

static void make(const struct made *made, const char *name, const char *thread,
		 struct lines *out)
{
	struct filter *filter = NULL;
	struct found found;

	assert_int_equal(filter_new(made->profile, &(struct filter_options){ .thread = thread },
				    &filter, NULL),
			 0);
	assert_int_equal(find_functions(made->profile, name, &found, NULL), 0);
	lines_make(made->profile, filter, found.is_meant, out);
	found_done(&found);
	filter_free(filter);
}

static void assert_line(const struct lines_part *part, size_t i, uint32_t line,
			uint64_t self_ns, uint64_t total_ns)
{
	assert_true(i < part->count);
	assert_int_equal(part->rows[i].line, line);
	assert_int_equal(part->rows[i].cost.self_ns, self_ns);
	assert_int_equal(part->rows[i].cost.total_ns, total_ns);
}

static void each_line_has_its_own_time_and_that_of_what_it_called(void **state)
{
	struct made made;
	struct lines lines;

	(void)state;
	made_init(&made);
	made_add(&made, "%<module>@a.py:1+9;%run@a.py:3+4", 5, 1);
	made_add(&made, "%<module>@a.py:1+9;%run@a.py:3+5", 7, 1);
	made_add(&made, "%<module>@a.py:1+9;%run@a.py:3+5;libm.so!sin", 11, 1);
	made_add(&made, "%<module>@a.py:1+9;libm.so!sin", 13, 1);
	make(&made, "run", NULL, &lines);

	assert_int_equal(lines.part_count, 1);
	assert_string_equal(lines.parts[0].file, "a.py");
	assert_int_equal(lines.parts[0].count, 2);
	assert_line(&lines.parts[0], 0, 4, 5, 5);
	assert_line(&lines.parts[0], 1, 5, 7, 18);
	assert_int_equal(lines.cost.self_ns, 12);
	assert_int_equal(lines.cost.total_ns, 23);
	lines_done(&lines);
	made_done(&made);
}

static void recursion_counts_once_for_each_line(void **state)
{
	struct made made;
	struct lines lines;

	(void)state;
	made_init(&made);
	made_add(&made, "%f@a.py:1+2;%f@a.py:1+2;%f@a.py:1+3", 10, 1);
	make(&made, "f", NULL, &lines);

	assert_line(&lines.parts[0], 0, 2, 0, 10);
	assert_line(&lines.parts[0], 1, 3, 10, 10);
	assert_int_equal(lines.cost.total_ns, 10);
	lines_done(&lines);
	made_done(&made);
}

static void functions_of_one_name_are_parts_the_heaviest_first(void **state)
{
	struct made made;
	struct lines lines;

	(void)state;
	made_init(&made);
	made_add(&made, "%<module>@a.py:1+2", 10, 1);
	made_add(&made, "%<module>@b.py:1+5", 30, 1);
	made_add(&made, "%<module>@b.py:1+4", 1, 1);
	make(&made, "<module>", NULL, &lines);

	assert_int_equal(lines.part_count, 2);
	assert_string_equal(lines.parts[0].file, "b.py");
	assert_int_equal(lines.parts[0].cost.total_ns, 31);
	assert_line(&lines.parts[0], 0, 4, 1, 1);
	assert_line(&lines.parts[0], 1, 5, 30, 30);
	assert_string_equal(lines.parts[1].file, "a.py");
	assert_int_equal(lines.cost.total_ns, 41);
	lines_done(&lines);
	made_done(&made);
}

static void a_filter_leaves_out_lines_of_others(void **state)
{
	struct made made;
	struct lines lines;

	(void)state;
	made_init(&made);
	made_add(&made, "%f@a.py:1+2", 10, 1);
	made_begin_thread(&made, 101, "other");
	made_add(&made, "%f@a.py:1+3", 4, 1);
	make(&made, "f", "other", &lines);

	assert_int_equal(lines.parts[0].count, 1);
	assert_line(&lines.parts[0], 0, 3, 4, 4);
	lines_done(&lines);
	made_done(&made);
}

static void native_lines_and_lines_not_known_are_lines(void **state)
{
	struct made made;
	struct lines lines;

	(void)state;
	made_init(&made);
	made_add(&made, "prog!main@main.c:1+12;prog!~work@work.h:3+4", 8, 1);
	made_add(&made, "prog!main@main.c:1+12;prog!~work@work.h:3", 2, 1);
	make(&made, "~work", NULL, &lines);

	assert_line(&lines.parts[0], 0, 0, 2, 2);
	assert_line(&lines.parts[0], 1, 4, 8, 8);
	lines_done(&lines);
	made_done(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_has_its_own_time_and_that_of_what_it_called),
		cmocka_unit_test(recursion_counts_once_for_each_line),
		cmocka_unit_test(functions_of_one_name_are_parts_the_heaviest_first),
		cmocka_unit_test(a_filter_leaves_out_lines_of_others),
		cmocka_unit_test(native_lines_and_lines_not_known_are_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
