#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "abi/only.h"

static struct only_text text_of(const char *string)
{
	return (struct only_text){ string, strlen(string) };
}

static void a_pattern_matches_a_whole_text(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool is_match;
	} cases[] = {
		{ "run", "run", true },
		{ "run", "runs", false },
		{ "runs", "run", false },
		{ "", "", true },
		{ "*", "", true },
		{ "*", "any.thing/at all", true },
		{ "r*n", "rn", true },
		{ "r*n", "run", true },
		{ "r*g", "running", true },
		{ "r*n", "runs", false },
		{ "*a*b*c", "xxaxxbxxabc", true },
		{ "*a*b*c", "xxcxxbxxa", false },
		{ "r?n", "run", true },
		{ "r?n", "rn", false },
		{ "[rg]un", "gun", true },
		{ "[rg]un", "bun", false },
		{ "[a-h]un", "gun", true },
		{ "[!a-h]un", "gun", false },
		{ "[^a-h]un", "run", true },
		{ "[]x]un", "]un", true },
		{ "[a-]un", "-un", true },
		/* A set that does not end is a bracket. */
		{ "[run", "[run", true },
		{ "[", "[", true },
		{ "operator[]", "operator[]", true },
		{ "?", "", false },
		{ "a**b", "ab", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (only_glob(cases[i].pattern, text_of(cases[i].text)) != cases[i].is_match)
			fail_msg("%s and %s", cases[i].pattern, cases[i].text);
	}
}

static void a_callee_is_matched_by_name_and_file(void **state)
{
	static const struct {
		const char *pattern, *name, *file;
		bool is_python, is_match;
	} cases[] = {
		{ "Worker.run", "Worker.run", "/home/me/app.py", true, true },
		{ "run", "Worker.run", "/home/me/app.py", true, true },
		{ "Worker", "Worker.run", "/home/me/app.py", true, false },
		{ "Worker.*", "Outer.Worker.run", "/home/me/app.py", true, true },
		{ "un", "Worker.run", "/home/me/app.py", true, false },
		{ "Foo#bar", "Foo#bar", "/home/me/foo.rb", false, true },
		{ "bar", "Foo#bar", "/home/me/foo.rb", false, true },
		{ "push_back", "std::vector<int>::push_back", "", false, true },
		{ "math.sin", "math.sin", "", true, true },
		{ "app.py", "Worker.run", "/home/me/app.py", true, true },
		{ "*.py", "Worker.run", "/home/me/app.py", true, true },
		{ "pp.py", "Worker.run", "/home/me/app.py", true, false },
		{ "me/*", "Worker.run", "/home/me/app.py", true, true },
		{ "e/*", "Worker.run", "/home/me/app.py", true, false },
		{ "/home/*", "Worker.run", "/home/me/app.py", true, true },
		{ "/me/*", "Worker.run", "/home/me/app.py", true, false },
		{ "me", "Worker.run", "/home/me/app.py", true, false },
		{ "app.Worker.run", "Worker.run", "/home/me/app.py", true, true },
		{ "app.*", "Worker.run", "/home/me/app.py", true, true },
		{ "json.*", "loads", "/usr/lib/python3.11/json/__init__.py", true, true },
		{ "json.decoder.*", "loads", "/usr/lib/python3.11/json/decoder.py", true,
		  true },
		{ "json.*", "loads", "/usr/lib/python3.11/ujson/decoder.py", true, false },
		{ "foo.*", "Foo#bar", "/home/me/foo.rb", false, true },
		{ "foo.Foo*", "Foo#bar", "/home/me/foo.rb", false, false },
		{ "*", "main", "", false, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct only_callee callee = { .name = text_of(cases[i].name),
						    .file = text_of(cases[i].file),
						    .is_python = cases[i].is_python };
		char patterns[64] = { 0 };

		memcpy(patterns, cases[i].pattern, strlen(cases[i].pattern));
		if (only_matches(patterns, &callee) != cases[i].is_match)
			fail_msg("%s and %s of %s", cases[i].pattern, cases[i].name,
				 cases[i].file);
	}
}

static void one_of_several_patterns_is_enough(void **state)
{
	const struct only_callee callee = { .name = text_of("run"), .file = text_of("") };

	(void)state;
	assert_true(only_matches("walk\0run\0", &callee));
	assert_true(only_matches("run\0walk\0", &callee));
	assert_false(only_matches("walk\0sit\0", &callee));
	/* None: everything is wanted. */
	assert_true(only_matches("\0", &callee));
}

static void a_module_that_is_too_long_is_matched_as_far_as_there_is_room(void **state)
{
	char path[2 * ONLY_DOTTED_MAX];

	(void)state;
	memset(path, 'x', sizeof path);
	memcpy(path + sizeof path - 3, ".py", 3);
	const struct only_callee callee = { .name = text_of("run"),
					    .file = { path, sizeof path },
					    .is_python = true };

	assert_true(only_matches("xx*\0", &callee));
	assert_true(only_matches("run\0", &callee));
	assert_false(only_matches("x.run\0", &callee));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pattern_matches_a_whole_text),
		cmocka_unit_test(a_callee_is_matched_by_name_and_file),
		cmocka_unit_test(one_of_several_patterns_is_enough),
		cmocka_unit_test(a_module_that_is_too_long_is_matched_as_far_as_there_is_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
