#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "base/utf8.h"

static void a_text_that_nothing_was_added_to_is_empty(void **state)
{
	struct text text = { 0 };

	(void)state;
	assert_string_equal(text_string(&text), "");
	text_clear(&text);
	assert_string_equal(text_string(&text), "");
	text_done(&text);
}

static void what_is_added_stands_behind_what_there_was(void **state)
{
	struct text text = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		text_addf(&text, "%03d,", i);
	assert_int_equal(text.len, 4000);
	assert_memory_equal(text.data, "000,001,", 8);
	assert_string_equal(text.data + 3992, "998,999,");
	text_clear(&text);
	text_add(&text, "new");
	text_add_bytes(&text, "\0x", 2);
	assert_int_equal(text.len, 5);
	assert_memory_equal(text_string(&text), "new\0x", 6);
	text_done(&text);
}

static const struct {
	const char *name, *bytes, *utf8, *printable;
} escapes[] = {
	{ "ASCII stays", "main+0x10", "main+0x10", "main+0x10" },
	{ "two, three and four bytes stay", "\303\274 \342\202\254 \360\237\220\247",
	  "\303\274 \342\202\254 \360\237\220\247", "\303\274 \342\202\254 \360\237\220\247" },
	{ "the last character stays", "\364\217\277\277", "\364\217\277\277",
	  "\364\217\277\277" },
	{ "what lies behind it does not", "\364\220\200\200", "\\xf4\\x90\\x80\\x80",
	  "\\xf4\\x90\\x80\\x80" },
	{ "a lone continuation byte", "a\200b", "a\\x80b", "a\\x80b" },
	{ "a sequence cut short by the end", "a\342\202", "a\\xe2\\x82", "a\\xe2\\x82" },
	{ "a sequence cut short by another character", "\342\202x", "\\xe2\\x82x",
	  "\\xe2\\x82x" },
	{ "an overlong NUL", "\300\200", "\\xc0\\x80", "\\xc0\\x80" },
	{ "an overlong slash of three bytes", "\340\200\257", "\\xe0\\x80\\xaf",
	  "\\xe0\\x80\\xaf" },
	{ "half a surrogate pair", "\355\240\200", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80" },
	{ "a byte of no sequence", "\377", "\\xff", "\\xff" },
	{ "an escape sequence of a terminal", "\033[31m\n", "\033[31m\n", "\\x1b[31m\\x0a" },
	{ "DEL", "\177", "\177", "\\x7f" },
	{ "a control character of two bytes", "\302\233", "\302\233", "\\xc2\\x9b" },
	{ "what turns text around", "a\342\200\256b", "a\342\200\256b", "a\\xe2\\x80\\xaeb" },
	{ "what isolates it", "\342\201\246\342\201\251", "\342\201\246\342\201\251",
	  "\\xe2\\x81\\xa6\\xe2\\x81\\xa9" },
	{ "the marks of directions", "\342\200\216\342\200\217\330\234",
	  "\342\200\216\342\200\217\330\234", "\\xe2\\x80\\x8e\\xe2\\x80\\x8f\\xd8\\x9c" },
	{ "text that runs from right to left stays", "\327\251\327\234", "\327\251\327\234",
	  "\327\251\327\234" },
	{ "and so does what joins emoji", "\342\200\215\342\200\257",
	  "\342\200\215\342\200\257", "\342\200\215\342\200\257" },
	{ "the first behind them", "\302\240", "\302\240", "\302\240" },
};

static void bytes_become_valid_and_printable(void **state)
{
	struct text text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
		print_message("%s\n", escapes[i].name);
		text_clear(&text);
		text_add_utf8(&text, escapes[i].bytes, strlen(escapes[i].bytes));
		assert_string_equal(text_string(&text), escapes[i].utf8);
		text_clear(&text);
		text_add_printable(&text, escapes[i].bytes, strlen(escapes[i].bytes));
		assert_string_equal(text_string(&text), escapes[i].printable);
	}
	text_done(&text);
}

static void what_formats_escape_themselves_stays(void **state)
{
	struct text text = { 0 };

	(void)state;
	text_add_shown(&text, "\033\n\"<\177\302\233\342\200\256\342\200\250", 14);
	assert_string_equal(text_string(&text),
			    "\033\n\"<\\x7f\\xc2\\x9b\\xe2\\x80\\xae\342\200\250");
	text_done(&text);
}

static void a_nul_within_is_a_control_character(void **state)
{
	struct text text = { 0 };

	(void)state;
	text_add_printable(&text, "a\0b", 3);
	assert_string_equal(text_string(&text), "a\\x00b");
	text_done(&text);
}

static void columns_are_what_a_terminal_shows(void **state)
{
	(void)state;
	assert_int_equal(text_columns(""), 0);
	assert_int_equal(text_columns("main"), 4);
	/* A byte that is no character takes the place of one. */
	assert_int_equal(text_columns("a\377b"), 3);
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	assert_int_equal(text_columns("gr\303\274n"), 4);
	assert_int_equal(text_columns("\346\274\242\345\255\227"), 4); /* two wide ones */
	assert_int_equal(text_columns("e\314\201"), 1);                /* a combining accent */
}

static void a_cut_never_leaves_half_a_character(void **state)
{
	static const char penguin[] = "a\360\237\220\247";

	(void)state;
	assert_int_equal(utf8_cut(penguin, 5), 5);
	for (size_t len = 1; len < 5; len++)
		assert_int_equal(utf8_cut(penguin, len), 1);
	assert_int_equal(utf8_cut(penguin, 0), 0);
	/* What is no UTF-8 is cut anywhere. */
	assert_int_equal(utf8_cut("\200\200\200\200\200", 5), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_that_nothing_was_added_to_is_empty),
		cmocka_unit_test(what_is_added_stands_behind_what_there_was),
		cmocka_unit_test(bytes_become_valid_and_printable),
		cmocka_unit_test(what_formats_escape_themselves_stays),
		cmocka_unit_test(a_nul_within_is_a_control_character),
		cmocka_unit_test(columns_are_what_a_terminal_shows),
		cmocka_unit_test(a_cut_never_leaves_half_a_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
