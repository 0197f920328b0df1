#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/memory.h"
#include "load/command_line.h"
#include "profile/profile.h"

static const struct {
	const char *name, *json;
	size_t count;
	const char *words[4];
} cases[] = {
	{ "no words", "[]", 0, { 0 } },
	{ "one word", "[\"ls\"]", 1, { "ls" } },
	{ "spaces between", " [ \"a\" ,\n\"b c\" ] ", 2, { "a", "b c" } },
	{ "an empty word", "[\"\",\"x\"]", 2, { "", "x" } },
	{ "escapes", "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", 1, { "\"\\/\b\f\n\r\t" } },
	{ "one, two and three bytes",
	  "[\"\\u0041\\u00e9\\u20AC\"]",
	  1,
	  { "A\xc3\xa9\xe2\x82\xac" } },
	{ "four bytes from two halves", "[\"\\ud83d\\ude00\"]", 1, { "\xf0\x9f\x98\x80" } },
	{ "a half alone stays", "[\"\\ud83d!\"]", 1, { "\\ud83d!" } },
	{ "zero stays", "[\"\\u0000\"]", 1, { "\\u0000" } },
	{ "bytes that are no UTF-8", "[\"\xff\"]", 1, { "\xff" } },
	{ "no array", "\"ls\"", 0, { 0 } },
	{ "a number within", "[\"a\",1]", 0, { 0 } },
	{ "no end", "[\"a\",", 0, { 0 } },
	{ "no end of a string", "[\"a", 0, { 0 } },
	{ "no end of an escape", "[\"a\\", 0, { 0 } },
	{ "no end of a number", "[\"\\u12", 0, { 0 } },
	{ "an escape that is none", "[\"\\x\"]", 0, { 0 } },
	{ "digits that are none", "[\"\\u12g4\"]", 0, { 0 } },
	{ "nothing", "", 0, { 0 } },
	{ "none", NULL, 0, { 0 } },
};

static void every_case_gives_its_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CLEANUP(profile_freep) struct profile *profile = profile_new();
		const char *const *words;
		size_t count = command_line_parse(cases[i].json, profile, &words);

		if (count != cases[i].count)
			fail_msg("%s: %zu words", cases[i].name, count);
		for (size_t j = 0; j < count; j++)
			assert_string_equal(words[j], cases[i].words[j]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_case_gives_its_words) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
