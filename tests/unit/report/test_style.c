#include "cmocka_all.h"

#include <locale.h>

#include "base/text.h"
#include "profile/intervals.h"
#include "report/grid.h"
#include "report/number.h"
#include "report/report.h"
#include "report/style.h"

static void assert_taken(struct text *text, const char *expected)
{
	assert_string_equal(text_string(text), expected);
	text_clear(text);
}

static void counts_have_thousands_apart(void **state)
{
	static const struct {
		uint64_t count;
		const char *expected;
	} cases[] = {
		{ 0, "0" },
		{ 999, "999" },
		{ 1000, "1,000" },
		{ 1002003, "1,002,003" },
		{ UINT64_MAX, "18,446,744,073,709,551,615" },
	};
	struct text text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		number_add_count(&text, cases[i].count);
		assert_taken(&text, cases[i].expected);
	}
	text_done(&text);
}

static void times_have_the_unit_that_suits_them(void **state)
{
	static const struct {
		uint64_t ns;
		const char *expected;
	} cases[] = {
		{ 0, "0 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.00 µs" },
		{ 1230000, "1.23 ms" },
		{ 100000000, "100.0 ms" },
		{ 1000000000, "1.000 s" },
		{ 123450000000, "123.45 s" },
		{ 3600000000000, "3600.0 s" },
	};
	struct text text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		number_add_any_time(&text, cases[i].ns);
		assert_taken(&text, cases[i].expected);
	}
	text_done(&text);
}

static void what_rounds_to_nothing_has_no_sign(void **state)
{
	struct text text = { 0 };

	(void)state;
	number_add_signed_time(&text, time_unit_for(1000000000), -400000);
	assert_taken(&text, "0.000 s");
	number_add_signed_time(&text, time_unit_for(1000000000), -600000);
	assert_taken(&text, "-0.001 s");
	number_add_signed_time(&text, time_unit_for(5), -1);
	assert_taken(&text, "-1 ns");
	text_done(&text);
}

static void nothing_is_no_percentage_of_nothing(void **state)
{
	(void)state;
	assert_true(number_percent(0, 0) == 0);
	assert_true(number_percent(5, 0) == 0);
	assert_true(number_percent(1, 4) == 25);
	assert_true(number_percent(UINT64_MAX, UINT64_MAX) == 100);
}

static void names_are_cut_to_what_fits(void **state)
{
	static const struct {
		const char *name;
		size_t columns;
		const char *expected;
	} cases[] = {
		{ "short", 5, "short" },
		{ "abcdefghij", 5, "ab…ij" },
		{ "abcdefghij", 6, "ab…hij" },
		{ "äöüäöüäöü", 4, "ä…öü" },
		{ "\xff\xfe\xfd\xfc\xfb", 3, "\xff…\xfb" },
		{ "a::very::long<name>::run(int, char)", 28, "a::very::long<name>::run(…)" },
		{ "a::very::long<name>::run(int, char) const", 34,
		  "a::very::long<name>::run(…) const" },
		{ "run(void (*)(int), int) [clone .cold]", 22, "run(…) [clone .cold]" },
		{ "a::very::long<name>::run(int, char)", 9, "…::run(…)" },
		{ "(anonymous namespace)::f", 10, "…::f" },
		{ "operator()", 5, "op…()" },
		{ ")", 1, ")" },
		{ ")))))", 3, ")…)" },
	};
	struct text text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		style_add_cut_name(&text, cases[i].name, cases[i].columns);
		assert_taken(&text, cases[i].expected);
	}
	text_done(&text);
}

static void where_a_name_is_from_is_cut_before_the_name(void **state)
{
	static const struct {
		const char *label;
		size_t columns;
		const char *expected;
	} cases[] = {
		{ "json.dumps [json, mostly _json]", 31, "json.dumps [json, mostly _json]" },
		{ "json.dumps [json, mostly _json]", 20, "json.dumps [json, m…" },
		{ "json.dumps [json, mostly _json]", 14, "json.dumps" },
		{ "json.dumps [json, mostly _json]", 7, "jso…mps" },
		{ "[waiting for a CPU]", 10, "[wai… CPU]" },
		{ "values[]", 6, "va…s[]" },
	};
	struct text text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		style_add_cut_label(&text, cases[i].label, cases[i].columns);
		assert_taken(&text, cases[i].expected);
	}
	text_done(&text);
}

static void sentences_break_at_spaces(void **state)
{
	const struct style style = { .width = 40 };
	struct text text = { 0 };

	(void)state;
	style_add_wrapped(&text, &style, 2, "one two three four five six seven eight nine");
	assert_taken(&text, "one two three four five six seven\n  eight nine");
	style_add_wrapped(&text, &style, 0,
			  "a word that is longer than a line: "
			  "/usr/lib/x86_64-linux-gnu/libsomething.so.6");
	assert_taken(&text, "a word that is longer than a line:\n"
			    "/usr/lib/x86_64-linux-gnu/libsomething.s\n"
			    "o.6");
	style_add_wrapped(&text, &style, 0, "");
	assert_taken(&text, "");
	text_done(&text);
}

static void a_number_keeps_its_unit(void **state)
{
	const struct style style = { .width = 40 };
	struct text text = { 0 };

	(void)state;
	style_add_wrapped(&text, &style, 0, "this sentence is of a length to end 100.0 ms");
	assert_taken(&text, "this sentence is of a length to end\n100.0 ms");
	style_add_wrapped(&text, &style, 0, "this sentence is of a length to en 100 some");
	assert_taken(&text, "this sentence is of a length to en 100\nsome");
	text_done(&text);
}

static const struct grid_column columns[] = { { "n", true, 0 },
					      { "name", false, 6 },
					      { "where", false, 0 } };

static void fill(struct grid *grid)
{
	grid_init(grid, columns, 3);
	grid_addf(grid, TINT_HOT, "%d", 7);
	grid_add_name(grid, TINT_NONE, "a\tb");
	grid_add_name(grid, TINT_NONE, NULL);
	grid_addf(grid, TINT_NONE, "%d", 1234);
	grid_add_name(grid, TINT_NONE, "a name that is long, and longer than most of them are");
	grid_addf(grid, TINT_NONE, "%s", "");
}

static void columns_are_aligned_and_a_long_cell_moves_its_own_row_only(void **state)
{
	struct grid grid;
	struct text text = { 0 };

	(void)state;
	fill(&grid);
	grid_write(&grid, &(struct style){ 0 }, &text);
	assert_taken(&text, "   n  name    where\n"
			    "   7  a\\x09b  -\n"
			    "1234  a name that is long, and longer than most of them are\n");
	grid_done(&grid);
	text_done(&text);
}

static void a_terminal_cuts_cells_but_not_below_their_least(void **state)
{
	struct grid grid;
	struct text text = { 0 };

	(void)state;
	fill(&grid);
	grid_write(&grid, &(struct style){ .width = 23 }, &text);
	assert_taken(&text, "   n  name        where\n"
			    "   7  a\\x09b      -\n"
			    "1234  a na…m are\n");
	grid_write(&grid, &(struct style){ .width = 5 }, &text);
	assert_taken(&text, "   n  name    where\n"
			    "   7  a\\x09b  -\n"
			    "1234  a …are\n");
	grid_done(&grid);
	text_done(&text);
}

static void colours_do_not_count_as_columns(void **state)
{
	struct grid grid;
	struct text text = { 0 };

	(void)state;
	grid_init(&grid, columns, 3);
	grid_addf(&grid, TINT_HOT, "%d", 7);
	grid_add_name(&grid, TINT_NONE, "x");
	grid_add_name(&grid, TINT_DIM, "y");
	grid_write(&grid, &(struct style){ .has_color = true }, &text);
	assert_taken(&text, "\x1b[1mn\x1b[0m  \x1b[1mname\x1b[0m  \x1b[1mwhere\x1b[0m\n"
			    "\x1b[1;31m7\x1b[0m  x     \x1b[2my\x1b[0m\n");
	grid_done(&grid);
	text_done(&text);
}

static void sort_orders_are_known_by_name(void **state)
{
	enum report_sort sort = REPORT_SORT_SELF;

	(void)state;
	assert_true(report_sort_parse("total", &sort));
	assert_int_equal(sort, REPORT_SORT_TOTAL);
	assert_true(report_sort_parse("self", &sort));
	assert_int_equal(sort, REPORT_SORT_SELF);
	assert_true(report_sort_parse("calls", &sort));
	assert_int_equal(sort, REPORT_SORT_CALLS);
	assert_true(report_sort_parse("cumtime", &sort));
	assert_int_equal(sort, REPORT_SORT_TOTAL);
	assert_true(report_sort_parse("cumulative", &sort));
	assert_int_equal(sort, REPORT_SORT_TOTAL);
	assert_true(report_sort_parse("tottime", &sort));
	assert_int_equal(sort, REPORT_SORT_SELF);
	assert_true(report_sort_parse("ncalls", &sort));
	assert_int_equal(sort, REPORT_SORT_CALLS);
	assert_false(report_sort_parse("colour", &sort));
}

/* 100 of 1,000, whose interval is 50 to 120, in no, one, two and three phases. */
static void a_share_says_how_far_off_it_may_be_or_how_often_it_came(void **state)
{
	static const struct grid_column column = { "off", COLUMN_LEFT, 0 };
	static const struct interval exact = { 100, 100, 0 };
	struct text text = { 0 };
	struct grid grid;

	(void)state;
	grid_init(&grid, &column, 1);
	for (unsigned int phases = 0; phases <= 3; phases++)
		grid_add_half_width(&grid, 100, 1000, &(struct interval){ 50, 120, phases });
	grid_add_half_width(&grid, 100, 1000, &exact);
	grid_write(&grid, &(struct style){ 0 }, &text);
	assert_taken(&text, "off\n±5.0\nonce\ntwice\n±5.0\n\n");
	grid_done(&grid);
	text_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_have_thousands_apart),
		cmocka_unit_test(times_have_the_unit_that_suits_them),
		cmocka_unit_test(what_rounds_to_nothing_has_no_sign),
		cmocka_unit_test(nothing_is_no_percentage_of_nothing),
		cmocka_unit_test(names_are_cut_to_what_fits),
		cmocka_unit_test(where_a_name_is_from_is_cut_before_the_name),
		cmocka_unit_test(sentences_break_at_spaces),
		cmocka_unit_test(a_number_keeps_its_unit),
		cmocka_unit_test(columns_are_aligned_and_a_long_cell_moves_its_own_row_only),
		cmocka_unit_test(a_terminal_cuts_cells_but_not_below_their_least),
		cmocka_unit_test(colours_do_not_count_as_columns),
		cmocka_unit_test(a_share_says_how_far_off_it_may_be_or_how_often_it_came),
		cmocka_unit_test(sort_orders_are_known_by_name),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
