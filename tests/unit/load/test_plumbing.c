#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "load/plumbing.h"

static void files_are_known_by_their_names(void **state)
{
	static const struct {
		const char *path;
		enum plumbing_kind kind;
		enum language language;
	} cases[] = {
		{ "/usr/bin/python3.11", PLUMBING_INTERPRETER, LANGUAGE_PYTHON },
		{ "/opt/bin/python3.13t", PLUMBING_INTERPRETER, LANGUAGE_PYTHON },
		{ "/usr/bin/python3.11-dbg", PLUMBING_INTERPRETER, LANGUAGE_PYTHON },
		{ "/usr/lib/libpython3.so", PLUMBING_INTERPRETER, LANGUAGE_PYTHON },
		{ "/opt/lib/libpython3.12.so.1.0", PLUMBING_INTERPRETER, LANGUAGE_PYTHON },
		{ "/opt/lib/libpython3.6m.so.1.0", PLUMBING_INTERPRETER, LANGUAGE_PYTHON },
		{ "/usr/lib/python3/dist-packages/python_magick.so", PLUMBING_NONE, 0 },
		{ "/usr/lib/weechat/plugins/python.so", PLUMBING_NONE, 0 },
		{ "/usr/lib/python3.12/lib-dynload/math.so", PLUMBING_STANDARD,
		  LANGUAGE_PYTHON },
		{ "/usr/bin/ruby3.1", PLUMBING_INTERPRETER, LANGUAGE_RUBY },
		{ "/opt/bin/ruby", PLUMBING_INTERPRETER, LANGUAGE_RUBY },
		{ "/usr/bin/ruby-mri", PLUMBING_INTERPRETER, LANGUAGE_RUBY },
		{ "/usr/bin/ruby.ruby3.3", PLUMBING_INTERPRETER, LANGUAGE_RUBY },
		{ "/usr/lib/libruby-3.1.so.3.1.2", PLUMBING_INTERPRETER, LANGUAGE_RUBY },
		{ "/opt/lib/libruby.so.3.4.1", PLUMBING_INTERPRETER, LANGUAGE_RUBY },
		{ "/usr/lib/libruby3.3.so.3.3", PLUMBING_INTERPRETER, LANGUAGE_RUBY },
		{ "/usr/lib/weechat/plugins/ruby.so", PLUMBING_NONE, 0 },
		{ "/srv/gems/ruby-prof/lib/ruby_prof.so", PLUMBING_NONE, 0 },
		{ "/usr/bin/rubyist", PLUMBING_NONE, 0 },
		{ "/usr/lib/x86_64-linux-gnu/ruby/3.1.0/io/console.so", PLUMBING_STANDARD,
		  LANGUAGE_RUBY },
		{ "/home/me/.rbenv/versions/3.3.0/lib/ruby/3.3.0/x86_64-linux/zlib.so",
		  PLUMBING_STANDARD, LANGUAGE_RUBY },
		{ "/home/me/.asdf/installs/ruby/3.3.0/lib/ruby/3.3.0/x86_64-linux/date_core.so",
		  PLUMBING_STANDARD, LANGUAGE_RUBY },
		{ "/home/me/.asdf/installs/ruby/3.3.0/lib/libjemalloc.so.2", PLUMBING_NONE, 0 },
		{ "/opt/lib/ruby/gems/3.3.0/gems/json-2.9/lib/json/ext/parser.so",
		  PLUMBING_NONE, 0 },
		{ "/srv/app/vendor/bundle/ruby/3.3.0/gems/ox-2.14/ext/ox.so", PLUMBING_NONE,
		  0 },
		{ "/srv/app/vendor/bundle/ruby/3.3.0/extensions/x86_64-linux/3.3.0/ox.so",
		  PLUMBING_NONE, 0 },
		{ "/opt/lib/ruby/vendor_ruby/3.3.0/x86_64-linux/own.so", PLUMBING_NONE, 0 },
		{ "/opt/ruby/3.3.0/share/site_ruby/own.so", PLUMBING_NONE, 0 },
		{ "/lib/x86_64-linux-gnu/libc.so.6", PLUMBING_LIBC, 0 },
		{ "/lib/x86_64-linux-gnu/libm.so.6", PLUMBING_NONE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct plumbing_file file = plumbing_of_file(cases[i].path);

		if (file.kind != cases[i].kind || file.language != cases[i].language)
			fail_msg("%s: kind %d, language %d", cases[i].path, (int)file.kind,
				 (int)file.language);
	}
}

static void an_interpreters_file_is_named_after_it_or_is_another_program(void **state)
{
	(void)state;
	assert_true(plumbing_is_named_after(LANGUAGE_RUBY, "/opt/bin/ruby-3.3-custom"));
	assert_false(plumbing_is_named_after(LANGUAGE_PYTHON, "/opt/bin/ruby-3.3-custom"));
	assert_false(plumbing_is_named_after(LANGUAGE_RUBY, "/usr/bin/vim.nox"));
	assert_false(plumbing_is_named_after(LANGUAGE_NATIVE, "/usr/bin/ruby"));
}

static void names_of_an_interpreters_own_are_known_where_that_is_safe(void **state)
{
	static const struct {
		enum language language;
		const char *name;
		bool is_own;
	} cases[] = {
		{ LANGUAGE_PYTHON, "_PyEval_EvalFrameDefault", true },
		{ LANGUAGE_PYTHON, "PyList_Append", true },
		{ LANGUAGE_PYTHON, "Pyramid", false },
		{ LANGUAGE_PYTHON, "rb_vm_exec", false },
		{ LANGUAGE_RUBY, "rb_vm_exec", true },
		{ LANGUAGE_RUBY, "vm_exec_core", true },
		{ LANGUAGE_RUBY, "rb_str_plus", true },
		{ LANGUAGE_RUBY, "rb_insert_color", false },
		{ LANGUAGE_RUBY, "rb_erase", false },
		{ LANGUAGE_RUBY, "vm_start", false },
		{ LANGUAGE_RUBY, "ruby_color", false },
		{ LANGUAGE_NATIVE, "rb_vm_exec", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (plumbing_is_own_name(cases[i].language, cases[i].name) != cases[i].is_own)
			fail_msg("%s", cases[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_known_by_their_names),
		cmocka_unit_test(an_interpreters_file_is_named_after_it_or_is_another_program),
		cmocka_unit_test(names_of_an_interpreters_own_are_known_where_that_is_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
