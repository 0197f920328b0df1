/* A live view is as large as the terminal, whatever that is; and what keys do. */
#include "cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "made.h"
#include "view/top_screen.h"

#define FUNCTIONS 50

static void fill(struct top_rows *top)
{
	struct made made;
	char stack[96];

	made_init(&made);
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		snprintf(stack, sizeof stack,
			 "main;%%function_%02u_with_a_long_name_€@a/long/way/to/app_%02u.py:%u",
			 i, i, i + 1);
		made_add(&made, stack, 1000 - i, 1);
	}
	*top = (struct top_rows){ .by = GROUP_BY_FUNCTION };
	top_rows_read(top, made.profile);
	top_rows_sort(top, TOP_SORT_SELF);
	made_done(&made);
}

static void draw(const struct top_rows *top, const struct top_state *state, unsigned width,
		 unsigned height, struct text *out)
{
	text_clear(out);
	top_screen_draw(
		&(struct top_screen){
			.top = top,
			.state = state,
			.title = "fathom top  a program with a title of some length",
			.status = "12.0 s   1.00 CPUs busy now",
			.height = height,
			.most_rows = 3,
			.style = { .width = width } },
		out);
}

static void a_screen_has_the_terminals_lines_and_none_is_wider(void **state)
{
	static const unsigned sizes[][2] = { { 80, 24 }, { 132, 50 }, { 200, 100 }, { 40, 10 },
					     { 20, 6 },  { 10, 5 },   { 1, 5 } };
	struct top_state keys = { .by = GROUP_BY_FUNCTION };
	struct text text = { 0 };
	struct top_rows top;

	(void)state;
	fill(&top);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		unsigned lines = 1;

		draw(&top, &keys, sizes[i][0], sizes[i][1], &text);
		for (char *line = text.data, *end; line; line = end ? end + 1 : NULL) {
			end = strchr(line, '\n');
			if (end)
				*end = '\0';
			lines += end != NULL;
			if (text_columns(line) > sizes[i][0])
				fail_msg("%ux%u: '%s'", sizes[i][0], sizes[i][1], line);
		}
		assert_int_equal(lines, sizes[i][1]);
	}
	text_done(&text);
	top_rows_done(&top);
}

static void eighty_columns_have_names_places_and_languages(void **state)
{
	struct top_state keys = { .by = GROUP_BY_FUNCTION };
	struct text text = { 0 };
	struct top_rows top;

	(void)state;
	fill(&top);
	draw(&top, &keys, 80, 24, &text);
	assert_non_null(strstr(text.data, "\nself %* total %  self %  total %  function\n"));
	assert_non_null(strstr(text.data, "\n   2.0      2.0     2.0      2.0  function_"));
	assert_non_null(strstr(text.data, "app_00.py:1   Python\n"));
	assert_non_null(strstr(text.data, "\nq quit  "));
	text_done(&text);
	top_rows_done(&top);
}

static void scrolling_ends_with_the_last_row(void **state)
{
	struct top_state keys = { .by = GROUP_BY_FUNCTION };
	struct text text = { 0 };
	struct top_rows top;

	(void)state;
	fill(&top);
	draw(&top, &keys, 80, 24, &text);
	assert_non_null(strstr(text.data, "function_00"));
	top_screen_press(&keys, TOP_KEY_PAGE_DOWN, 19);
	draw(&top, &keys, 80, 24, &text);
	assert_null(strstr(text.data, "app_00"));
	assert_non_null(strstr(text.data, "app_19"));
	for (int i = 0; i < 10; i++)
		top_screen_press(&keys, TOP_KEY_PAGE_DOWN, 19);
	draw(&top, &keys, 80, 24, &text);
	assert_non_null(strstr(text.data, "app_49"));
	top_screen_press(&keys, TOP_KEY_HOME, 19);
	top_screen_press(&keys, TOP_KEY_UP, 19);
	assert_int_equal(keys.first, 0);
	text_done(&text);
	top_rows_done(&top);
}

static void without_a_terminal_there_are_as_many_rows_and_no_keys(void **state)
{
	struct top_state keys = { .by = GROUP_BY_FUNCTION };
	struct text text = { 0 };
	struct top_rows top;

	(void)state;
	fill(&top);
	draw(&top, &keys, 100, 0, &text);
	assert_non_null(strstr(text.data, "function_02"));
	assert_null(strstr(text.data, "function_03"));
	assert_null(strstr(text.data, "q quit"));
	assert_int_equal(text.data[text.len - 1], '\n');
	text_done(&text);
	top_rows_done(&top);
}

static void keys_are_taken_out_of_what_a_terminal_sends(void **state)
{
	static const struct {
		const char *bytes;
		int key;
		size_t taken;
	} cases[] = {
		{ "q", 'q', 1 },
		{ "sq", 's', 1 },
		{ "\033[A", TOP_KEY_UP, 3 },
		{ "\033OB", TOP_KEY_DOWN, 3 },
		{ "\033[6~x", TOP_KEY_PAGE_DOWN, 4 },
		{ "\033[1;5Cq", 0, 6 }, /* control and an arrow */
		{ "\033[", 0, 2 },
		{ "\033", 0, 1 },
		{ "", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t taken;

		assert_int_equal(
			top_screen_take_key(cases[i].bytes, strlen(cases[i].bytes), &taken),
			cases[i].key);
		assert_int_equal(taken, cases[i].taken);
	}
}

static void keys_sort_choose_hold_and_end(void **state)
{
	struct top_state keys = { .by = GROUP_BY_FUNCTION, .first = 7 };

	(void)state;
	assert_true(top_screen_press(&keys, 'T', 10));
	assert_int_equal(keys.sort, TOP_SORT_TOTAL_ALL);
	assert_int_equal(keys.first, 0);
	assert_true(top_screen_press(&keys, 'h', 10));
	assert_int_equal(keys.by, GROUP_BY_THREAD);
	assert_true(top_screen_press(&keys, ' ', 10));
	assert_true(keys.is_frozen);
	assert_true(top_screen_press(&keys, 'x', 10));
	assert_int_equal(keys.by, GROUP_BY_THREAD);
	assert_false(top_screen_press(&keys, 'q', 10));
}

static void without_rows_it_says_why(void **state)
{
	static const char why[] = "nothing has used CPU time";
	struct top_state keys = { .by = GROUP_BY_FUNCTION };
	struct top_rows none = { .by = GROUP_BY_FUNCTION };
	struct top_screen screen = { .top = &none,
				     .state = &keys,
				     .title = "fathom top",
				     .status = "1.0 s",
				     .why_empty = why,
				     .style = { .width = 80 } };
	struct text text = { 0 };

	(void)state;
	for (screen.height = 0; screen.height < 10; screen.height += 9) {
		unsigned lines = 0;

		screen.most_rows = 3;
		text_clear(&text);
		top_screen_draw(&screen, &text);
		assert_non_null(strstr(text_string(&text), why));
		for (size_t i = 0; i < text.len; i++)
			lines += text.data[i] == '\n';
		assert_int_equal(lines, screen.height ? screen.height - 1 : TOP_SCREEN_FRAME);
	}
	text_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_screen_has_the_terminals_lines_and_none_is_wider),
		cmocka_unit_test(eighty_columns_have_names_places_and_languages),
		cmocka_unit_test(scrolling_ends_with_the_last_row),
		cmocka_unit_test(without_a_terminal_there_are_as_many_rows_and_no_keys),
		cmocka_unit_test(keys_are_taken_out_of_what_a_terminal_sends),
		cmocka_unit_test(keys_sort_choose_hold_and_end),
		cmocka_unit_test(without_rows_it_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
