#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "by_hand.h"
#include "profile/profile.h"
#include "record/recording.h"
#include "record/writer.h"
#include "shown.h"
#include "words.h"

/* Debian's: a small program, and everything in one stripped library. */
static void begin_ruby(struct words *words, const char *file)
{
	words_begin(words, file);
	words->language = RECORDING_LANGUAGE_RUBY;
	words_add_module(words, "ruby", "/usr/bin/ruby3.1");
	words_add_module(words, "libruby", "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2");
	words_add_module(words, "libc", "/lib/x86_64-linux-gnu/libc.so.6");
	words_add_interpreter(words, "libruby", "3.1.2", NULL);
	words_add_code(words, "main", "<main>", "/srv/app/main.rb", 1);
	words_add_code(words, "bar", "Foo#bar", "/srv/app/foo.rb", 10);
	words_add_code(words, "block", "block in Foo#bar", "/srv/app/foo.rb", 11);
	words_add_code(words, "each", "Array#each", NULL, 0);
	words_add_code(words, "plus", "String#+", NULL, 0);
	words_add_code(words, "gc", "[garbage collection: marking]", NULL, 0);
}

#define START                                                                      \
	"ruby:_start libc:__libc_start_call_main ruby:main libruby:ruby_run_node " \
	"libruby:rb_ec_exec_node "
#define LOOP "libruby:rb_vm_exec libruby:vm_exec_core"

static void plumbing_is_folded_into_the_frame_outside_of_it(void **state)
{
	struct words words;

	(void)state;
	begin_ruby(&words, "folded.fathom");
	words_add(&words, START "@main:3 @bar:12 " LOOP, 2);
	words_add(&words,
		  START "@main:3 @bar:12 " LOOP " @each libruby:rb_ary_each libruby:rb_yield "
			"@block:13 " LOOP " @plus libruby:rb_str_plus libc:memcpy",
		  3);
	words_add(&words, "libc:clone3 libc:start_thread libruby:thread_start @bar:12 " LOOP,
		  4);
	by_hand_close(words.writer);

	shown_must_be("folded.fathom", false,
		      "2 <main>:3 Foo#bar:12\n"
		      "3 <main>:3 Foo#bar:12 Array#each block in Foo#bar:13 String#+ memcpy\n"
		      "4 Foo#bar:12\n");
	assert_int_equal(shown_sum("folded.fathom", false), shown_sum("folded.fathom", true));
}

static void garbage_collection_is_a_row_of_whoever_allocates(void **state)
{
	struct words words;

	(void)state;
	begin_ruby(&words, "collected.fathom");
	words_add(&words,
		  START "@bar:12 " LOOP " @plus libruby:rb_str_plus libruby:gc_start @gc "
			"libruby:gc_mark",
		  1);
	by_hand_close(words.writer);

	shown_must_be("collected.fathom", false,
		      "1 Foo#bar:12 String#+ [garbage collection: marking]\n");
}

static void a_builtin_hides_what_its_standard_module_does_for_it(void **state)
{
	struct words words;

	(void)state;
	begin_ruby(&words, "standard.fathom");
	words_add_module(&words, "zlib", "/usr/lib/x86_64-linux-gnu/ruby/3.1.0/zlib.so");
	words_add_module(&words, "libz", "/lib/x86_64-linux-gnu/libz.so.1.2.13");
	words_add_module(
		&words, "gem",
		"/usr/lib/ruby/gems/3.1.0/extensions/x86_64-linux/3.1.0/rbs-2.1.0/rbs.so");
	words_add_code(&words, "deflate", "Zlib::Deflate#deflate", NULL, 0);
	words_add(&words,
		  START "@bar:12 " LOOP " @deflate zlib:rb_deflate_deflate libruby:nogvl "
			"zlib:zstream_run libz:deflate_fast",
		  1);
	words_add(&words, START "@bar:13 " LOOP " @each gem:parse", 2);
	words_add(&words, START "@bar:14 " LOOP " zlib:zstream_run", 3);
	by_hand_close(words.writer);

	shown_must_be("standard.fathom", false,
		      "1 Foo#bar:12 Zlib::Deflate#deflate deflate_fast\n"
		      "2 Foo#bar:13 Array#each parse\n"
		      "3 Foo#bar:14 zstream_run\n");
}

static void code_that_was_compiled_at_run_time_is_its_methods(void **state)
{
	struct words words;

	(void)state;
	begin_ruby(&words, "compiled.fathom");
	words_add_module(&words, "made", NULL);
	words_add_module(&words, "ffi", "/lib/x86_64-linux-gnu/libffi.so.8");
	words_add(&words, START "@main:3 @bar:12 " LOOP " made:[jit]+0x7f00", 1);
	words_add(&words, START "@main:3 @bar:12 " LOOP " made:[jit]+0x7f10 libruby:rb_ary_new",
		  2);
	/* A C function that compiled code calls: its name stands outside of both. */
	words_add(&words, START "@main:3 @bar:12 @each made:[jit]+0x7f20 libruby:rb_ary_each",
		  3);
	/* What a library has called is another's. */
	words_add(&words, START "@main:3 @bar:12 " LOOP " ffi:call made:closure", 4);
	words_add(&words, "made:closure", 5);
	by_hand_close(words.writer);

	shown_must_be("compiled.fathom", false,
		      "3 <main>:3 Foo#bar:12\n"
		      "3 <main>:3 Foo#bar:12 Array#each\n"
		      "4 <main>:3 Foo#bar:12 call closure\n"
		      "5 closure\n");
}

static void how_cruby_finds_its_thread_is_plumbing_and_how_others_do_is_not(void **state)
{
	struct words words;

	(void)state;
	begin_ruby(&words, "helper.fathom");
	words_add_module(&words, "ld", "/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2");
	words_add_module(&words, "gem", "/srv/gems/fast.so");
	words_add(&words, START "@bar:12 " LOOP " ld:__tls_get_addr", 1);
	words_add(&words, START "@bar:12 " LOOP " @each libruby:rb_ary_each ld:__tls_get_addr",
		  2);
	words_add(&words, START "@bar:12 " LOOP " @each gem:fast ld:__tls_get_addr", 3);
	words_add(&words, START "@bar:12 " LOOP " @each ld:_dl_fixup", 4);
	words_add(&words, START "ld:__tls_get_addr", 5);
	by_hand_close(words.writer);

	shown_must_be("helper.fathom", false,
		      "1 Foo#bar:12\n"
		      "2 Foo#bar:12 Array#each\n"
		      "3 Foo#bar:12 Array#each fast __tls_get_addr\n"
		      "4 Foo#bar:12 Array#each _dl_fixup\n"
		      "5 _start __libc_start_call_main main ruby_run_node rb_ec_exec_node "
		      "__tls_get_addr\n");
}

static void a_stack_without_ruby_is_native_as_it_is(void **state)
{
	struct words words;

	(void)state;
	begin_ruby(&words, "startup.fathom");
	words_add(&words, START "libruby:gc_start_internal libc:malloc", 1);
	words_add(&words, START "@main:1 " LOOP, 1);
	by_hand_close(words.writer);

	shown_must_be("startup.fathom", false,
		      "1 _start __libc_start_call_main main ruby_run_node rb_ec_exec_node "
		      "gc_start_internal malloc\n"
		      "1 <main>:1\n");
}

/* As the gem pycall has it: Ruby calls Python, which calls back. */
static void begin_both(struct words *words, const char *file)
{
	begin_ruby(words, file);
	words_add_module(words, "pycall", "/var/lib/gems/3.1.0/gems/pycall-1.5/pycall.so");
	words_add_module(words, "libpython", "/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0");
	words->language = RECORDING_LANGUAGE_PYTHON;
	words_add_interpreter(words, "libpython", "3.11.2", NULL);
	words_add_code(words, "run", "Worker.run", "/srv/app/worker.py", 10);
	words_add_code(words, "sum", "builtins.sum", NULL, 0);
}

static void two_languages_in_one_stack_keep_each_others_frames(void **state)
{
	struct words words;

	(void)state;
	begin_both(&words, "both.fathom");
	words_add(&words,
		  START
		  "@bar:12 " LOOP " @each libruby:rb_ary_each pycall:call "
		  "libpython:PyObject_Call @run:11 libpython:_PyEval_EvalFrameDefault "
		  "@sum libpython:builtin_sum pycall:back libruby:rb_funcallv @block:13 " LOOP,
		  1);
	by_hand_close(words.writer);

	shown_must_be("both.fathom", false,
		      "1 Foo#bar:12 Array#each call Worker.run:11 builtins.sum back "
		      "block in Foo#bar:13\n");
	assert_int_equal(shown_sum("both.fathom", false), shown_sum("both.fathom", true));
}

static void the_plumbing_of_one_language_is_not_folded_into_the_other(void **state)
{
	struct words words;

	(void)state;
	begin_both(&words, "beside.fathom");
	words_add(&words,
		  START "@bar:12 " LOOP " pycall:init libpython:Py_Initialize libc:malloc", 1);
	words_add(&words, START "@bar:12 " LOOP " pycall:init libpython:Py_Initialize @run:11",
		  2);
	words_add(&words,
		  START "@bar:12 " LOOP " pycall:init libpython:Py_Initialize libruby:xmalloc",
		  3);
	words_add(&words, "libpython:PyObject_Call @run:11 libruby:ruby_init", 4);
	words_add(&words, START "@bar:12 pycall:call @run:11 libruby:gc_start", 5);
	words_add_module(&words, "math", "/usr/lib/python3.11/lib-dynload/math.so");
	words_add(&words, START "@bar:13 @each math:math_1", 6);
	by_hand_close(words.writer);

	shown_must_be("beside.fathom", false,
		      "1 Foo#bar:12 init Py_Initialize malloc\n"
		      "2 Foo#bar:12 init Worker.run:11\n"
		      "3 Foo#bar:12 init Py_Initialize\n"
		      "4 Worker.run:11 ruby_init\n"
		      "5 Foo#bar:12 call Worker.run:11\n"
		      "6 Foo#bar:13 Array#each math_1\n");
}

static void the_frames_of_a_program_that_embeds_ruby_stay(void **state)
{
	struct words words;

	(void)state;
	begin_ruby(&words, "embedded.fathom");
	words_add_module(&words, "plugin", "/usr/lib/weechat/plugins/ruby.so");
	words_add_module(&words, "weechat", "/usr/bin/weechat");
	words_add(&words,
		  "weechat:_start libc:__libc_start_main weechat:main plugin:weechat_ruby_exec "
		  "libruby:rb_protect @bar:11 " LOOP " @each plugin:weechat_ruby_api_print",
		  1);
	by_hand_close(words.writer);

	shown_must_be("embedded.fathom", false,
		      "1 _start __libc_start_main main weechat_ruby_exec Foo#bar:11 Array#each "
		      "weechat_ruby_api_print\n");
}

static void a_program_with_ruby_linked_into_it_loses_rubys_names_only(void **state)
{
	struct words words;

	(void)state;
	words_begin(&words, "linked.fathom");
	words.language = RECORDING_LANGUAGE_RUBY;
	words_add_module(&words, "program", "/usr/bin/engine");
	words_add_interpreter(&words, "program", "3.3.8", NULL);
	words_add_code(&words, "bar", "Foo#bar", "/srv/app/foo.rb", 10);
	words_add(&words,
		  "program:main program:ruby_run_node @bar:11 program:rb_vm_exec "
		  "program:vm_call_cfunc program:render program:rb_insert",
		  1);
	by_hand_close(words.writer);

	shown_must_be("linked.fathom", false, "1 main Foo#bar:11 render rb_insert\n");
}

static void names_are_qualified_and_both_are_kept(void **state)
{
	struct words words;

	(void)state;
	begin_ruby(&words, "names.fathom");
	words_add(&words, START "@bar:12", 1);
	by_hand_close(words.writer);
	CLEANUP(profile_freep) struct profile *profile = shown_load("names.fathom", false);
	const struct profile_info *info = profile_get_info(profile);
	const struct weight *weight = profile_get_weight(profile, 0);

	for (size_t i = 0; weight->samples == 0; i++)
		weight = profile_get_weight(profile, i);
	const struct function *function = shown_function(profile, weight->stack);

	assert_int_equal(function->language, LANGUAGE_RUBY);
	assert_string_equal(function->name, "Foo#bar");
	assert_string_equal(function->plain_name, "bar");
	assert_string_equal(function->file, "/srv/app/foo.rb");
	assert_int_equal(function->module.n, 0);
	assert_true(info->is_folded);
	assert_int_equal(info->interpreter_count, 1);
	assert_string_equal(info->interpreters[0].language, "ruby");
}

static void a_process_may_have_interpreters_of_two_languages(void **state)
{
	struct words words;

	(void)state;
	begin_both(&words, "processes.fathom");
	words_add(&words, START "@bar:12", 1);
	by_hand_close(words.writer);
	CLEANUP(profile_freep) struct profile *profile = shown_load("processes.fathom", false);

	assert_string_equal(profile_get_process(profile, (struct process_id){ 1 })->interpreter,
			    "ruby 3.1.2, python 3.11.2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plumbing_is_folded_into_the_frame_outside_of_it),
		cmocka_unit_test(garbage_collection_is_a_row_of_whoever_allocates),
		cmocka_unit_test(a_builtin_hides_what_its_standard_module_does_for_it),
		cmocka_unit_test(code_that_was_compiled_at_run_time_is_its_methods),
		cmocka_unit_test(
			how_cruby_finds_its_thread_is_plumbing_and_how_others_do_is_not),
		cmocka_unit_test(a_stack_without_ruby_is_native_as_it_is),
		cmocka_unit_test(two_languages_in_one_stack_keep_each_others_frames),
		cmocka_unit_test(the_plumbing_of_one_language_is_not_folded_into_the_other),
		cmocka_unit_test(the_frames_of_a_program_that_embeds_ruby_stay),
		cmocka_unit_test(a_program_with_ruby_linked_into_it_loses_rubys_names_only),
		cmocka_unit_test(names_are_qualified_and_both_are_kept),
		cmocka_unit_test(a_process_may_have_interpreters_of_two_languages),
	};

	return cmocka_run_group_tests(tests, by_hand_make_folder, by_hand_remove_folder);
}
