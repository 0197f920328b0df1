#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "base/text.h"
#include "by_hand.h"
#include "load/load.h"
#include "profile/profile.h"
#include "record/reader.h"
#include "record/writer.h"
#include "shown.h"
#include "words.h"

/* Debian's: the loop, main() and most modules in one stripped program. */
static void begin_static(struct words *words, const char *file)
{
	words_begin(words, file);
	words_add_module(words, "python", "/usr/bin/python3.11");
	words_add_module(words, "libc", "/lib/x86_64-linux-gnu/libc.so.6");
	words_add_module(words, "libm", "/lib/x86_64-linux-gnu/libm.so.6");
	words_add_module(words, "speedups",
			 "/srv/app/speedups.cpython-311-x86_64-linux-gnu.so");
	words_add_interpreter(words, "python", "3.11.2", NULL);
	words_add_code(words, "<module>", "<module>", "/srv/app/main.py", 1);
	words_add_code(words, "run", "Worker.run", "/srv/app/worker.py", 10);
	words_add_code(words, "key", "sort.<locals>.key", "/srv/app/main.py", 30);
	words_add_code(words, "math.sin", NULL, NULL, 0);
	words_add_code(words, "builtins.sorted", NULL, NULL, 0);
}

#define START "python:_start libc:__libc_start_call_main python:main python:Py_RunMain "
#define LOOP  "python:_PyEval_EvalFrameDefault"

static void plumbing_is_folded_into_the_frame_outside_of_it(void **state)
{
	struct words words;

	(void)state;
	begin_static(&words, "folded.fathom");
	words_add(&words, START "@<module>:3 @run:12 " LOOP, 2);
	words_add(&words,
		  START "@<module>:3 @run:12 " LOOP " python:PyNumber_Add python:long_add", 3);
	words_add(&words,
		  START "@<module>:3 @run:13 " LOOP " python:PyList_Append libc:realloc", 4);
	words_add(&words,
		  START "@<module>:3 @run:14 " LOOP
			" python:cfunction_call speedups:scale speedups:inner",
		  5);
	by_hand_close(words.writer);

	shown_must_be("folded.fathom", false,
		      "5 <module>:3 Worker.run:12\n"
		      "4 <module>:3 Worker.run:13 realloc\n"
		      "5 <module>:3 Worker.run:14 scale inner\n");
	shown_must_be(
		"folded.fathom", true,
		"2 _start __libc_start_call_main main Py_RunMain <module>:3 Worker.run:12 "
		"_PyEval_EvalFrameDefault\n"
		"3 _start __libc_start_call_main main Py_RunMain <module>:3 Worker.run:12 "
		"_PyEval_EvalFrameDefault PyNumber_Add long_add\n"
		"4 _start __libc_start_call_main main Py_RunMain <module>:3 Worker.run:13 "
		"_PyEval_EvalFrameDefault PyList_Append realloc\n"
		"5 _start __libc_start_call_main main Py_RunMain <module>:3 Worker.run:14 "
		"_PyEval_EvalFrameDefault cfunction_call scale inner\n");
	assert_int_equal(shown_sum("folded.fathom", false), shown_sum("folded.fathom", true));
}

static void the_agent_is_left_out_between_a_program_and_what_it_replaces(void **state)
{
	struct words words;

	(void)state;
	begin_static(&words, "agent.fathom");
	words_add_module(&words, "httpd", "/usr/sbin/apache2");
	words_add_module(&words, "agent", "/usr/lib/fathom/libfathom-agent-record.so");
	words_add(&words, "httpd:main agent:select libc:select", 1);
	words_add(&words, "httpd:main agent:select agent:waits_note libc:memcpy", 2);
	words_add(&words, "httpd:main agent:select", 3);
	words_add(&words, "agent:thread_run httpd:worker", 4);
	words_add(&words, START "@<module>:3 " LOOP " agent:poll libc:poll @run:12", 5);
	by_hand_close(words.writer);

	shown_must_be("agent.fathom", false,
		      "1 main select\n"
		      "2 main memcpy\n"
		      "3 main select\n"
		      "4 worker\n"
		      "5 <module>:3 poll Worker.run:12\n");
	assert_int_equal(shown_sum("agent.fathom", false), shown_sum("agent.fathom", true));
}

#define BOOTSTRAP "<frozen importlib._bootstrap>"
#define FINDING   "@_find_and_load:7 " LOOP " @_load_unlocked:8 " LOOP

/* One frame of the import system, and none on the way to a module's code, which has its name. */
static void an_import_is_one_frame(void **state)
{
	struct words words;

	(void)state;
	begin_static(&words, "imports.fathom");
	words_add_code(&words, "_find_and_load", NULL, BOOTSTRAP, 1);
	words_add_code(&words, "_load_unlocked", NULL, BOOTSTRAP, 2);
	words_add_code(&words, "builtins.exec", NULL, NULL, 0);
	words_add_code(&words, "marshal.loads", NULL, NULL, 0);
	words_add_code(&words, "body", "<module>",
		       "/v/lib/python3.11/site-packages/flask/app.py", 1);
	words_add_code(&words, "inner", "<module>", "/usr/lib/python3.11/json/__init__.py", 1);
	words_add(&words, START "@<module>:3 " FINDING, 1);
	words_add(&words, START "@<module>:3 " FINDING " @marshal.loads libc:read", 2);
	words_add(&words, START "@<module>:3 " FINDING " @builtins.exec " LOOP " @body:5", 3);
	words_add(&words,
		  START "@<module>:3 " FINDING " @builtins.exec " LOOP " @body:5 " FINDING
			" @builtins.exec " LOOP " @inner:9 @key:31 @builtins.exec",
		  4);
	words_add(&words, START "@<module>:3 " FINDING " libc:dlopen speedups:init @key:32", 5);
	by_hand_close(words.writer);

	shown_must_be("imports.fathom", false,
		      "1 <module>:3 _find_and_load:7\n"
		      "2 <module>:3 _find_and_load:7 marshal.loads read\n"
		      "3 <module>:3 import flask.app:5\n"
		      "4 <module>:3 import flask.app:5 import json:9 sort.<locals>.key:31 "
		      "builtins.exec\n"
		      "5 <module>:3 _find_and_load:7 dlopen init sort.<locals>.key:32\n");
	assert_int_equal(shown_sum("imports.fathom", false), shown_sum("imports.fathom", true));
}

static uint64_t calls_of(const struct profile *profile, const char *name)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);

		if (strcmp(shown_function(profile, weight->stack)->name, name) == 0)
			calls += weight->calls;
	}
	return calls;
}

static void calls_of_plumbing_are_not_those_of_what_it_is_folded_into(void **state)
{
	struct words words;

	(void)state;
	begin_static(&words, "calls.fathom");
	words_add_calls(&words, "python:main", 1);
	words_add_calls(&words, "python:main @run:12", 20);
	words_add_calls(&words, "python:main @run:12 python:PyNumber_Add", 300);
	words_add_calls(&words, "python:main @run:12 python:PyNumber_Add python:long_add",
			4000);
	by_hand_close(words.writer);
	CLEANUP(profile_freep) struct profile *folded = shown_load("calls.fathom", false);
	CLEANUP(profile_freep) struct profile *native = shown_load("calls.fathom", true);

	assert_int_equal(calls_of(folded, "Worker.run"), 20);
	assert_int_equal(profile_get_info(folded)->calls, 21);
	assert_int_equal(calls_of(native, "Worker.run"), 20);
	assert_int_equal(calls_of(native, "long_add"), 4000);
	assert_int_equal(profile_get_info(native)->calls, 4321);
	assert_int_equal(shown_sum("calls.fathom", false), shown_sum("calls.fathom", true));
}

static void c_stands_between_two_python_functions_by_its_python_name(void **state)
{
	struct words words;

	(void)state;
	begin_static(&words, "sorted.fathom");
	words_add(&words,
		  START "@<module>:5 " LOOP " python:cfunction_vectorcall @builtins.sorted "
			"python:builtin_sorted python:PyObject_Vectorcall @key:31 " LOOP,
		  1);
	words_add(&words,
		  START "@<module>:5 " LOOP " python:cfunction_vectorcall @builtins.sorted "
			"python:builtin_sorted",
		  2);
	words_add(&words, START "@<module>:6 " LOOP " @math.sin python:math_1 libm:__sin_fma",
		  3);
	by_hand_close(words.writer);

	shown_must_be("sorted.fathom", false,
		      "1 <module>:5 builtins.sorted sort.<locals>.key:31\n"
		      "2 <module>:5 builtins.sorted\n"
		      "3 <module>:6 math.sin __sin_fma\n");
}

static void a_builtin_hides_what_its_standard_module_does_for_it(void **state)
{
	struct words words;

	(void)state;
	begin_static(&words, "standard.fathom");
	words_add_module(&words, "math", "/opt/lib/python3.12/lib-dynload/math.so");
	words_add(&words, START "@<module>:6 " LOOP " @math.sin math:math_sin math:math_1", 1);
	words_add(&words,
		  START "@<module>:6 " LOOP " @math.sin python:cfunction math:math_1 libm:sin",
		  2);
	words_add(&words,
		  START "@<module>:6 " LOOP " @math.sin math:math_1 libm:matherr math:back", 3);
	words_add(&words, START "@<module>:7 " LOOP " math:math_1", 4);
	words_add(&words, START "@<module>:7 " LOOP " @math.sin speedups:scale", 5);
	/* What has no file for another reason is no C function. */
	words_add_code(&words, "text", NULL, NULL, 1);
	words_add(&words, START "@text:1 " LOOP " math:math_1", 6);
	by_hand_close(words.writer);

	shown_must_be("standard.fathom", false,
		      "1 <module>:6 math.sin\n"
		      "2 <module>:6 math.sin sin\n"
		      "3 <module>:6 math.sin matherr back\n"
		      "4 <module>:7 math_1\n"
		      "5 <module>:7 math.sin scale\n"
		      "6 text:1 math_1\n");
}

static void trampolines_are_plumbing_and_other_code_made_at_run_time_is_not(void **state)
{
	struct words words;

	(void)state;
	begin_static(&words, "trampolines.fathom");
	words_add_module(&words, "made", NULL);
	words_add(&words,
		  START "made:py::<module>:/srv/main.py python:eval @<module>:6 " LOOP
			" made:py::run:/srv/main.py python:eval @run:12 " LOOP " made:kernel_1",
		  1);
	by_hand_close(words.writer);

	shown_must_be("trampolines.fathom", false, "1 <module>:6 Worker.run:12 kernel_1\n");
}

static void a_stack_without_python_is_native_as_it_is(void **state)
{
	struct words words;

	(void)state;
	begin_static(&words, "startup.fathom");
	words_add(&words, START "python:Py_InitializeFromConfig libc:malloc", 1);
	words_add(&words, START "@<module>:1 " LOOP, 1);
	words_add(&words, START "python:Py_FinalizeEx python:dict_dealloc", 1);
	by_hand_close(words.writer);

	shown_must_be("startup.fathom", false,
		      "1 _start __libc_start_call_main main Py_RunMain Py_InitializeFromConfig "
		      "malloc\n"
		      "1 <module>:1\n"
		      "1 _start __libc_start_call_main main Py_RunMain Py_FinalizeEx "
		      "dict_dealloc\n");
}

/* As libpython is: main() is in a small program of its own. */
static void begin_shared(struct words *words, const char *file, const char *program)
{
	words_begin(words, file);
	words_add_module(words, "libpython", "/opt/python/lib/libpython3.12.so.1.0");
	words_add_module(words, "program", program);
	words_add_module(words, "libc", "/lib/x86_64-linux-gnu/libc.so.6");
	words_add_interpreter(words, "libpython", "3.12.1", NULL);
	words_add_code(words, "run", "Worker.run", "/srv/app/worker.py", 10);
}

static void the_small_program_that_starts_a_shared_python_is_plumbing(void **state)
{
	struct words words;

	(void)state;
	begin_shared(&words, "shared.fathom", "/opt/python/bin/python3.12");
	words_add(&words,
		  "program:_start libc:__libc_start_main program:main libpython:Py_BytesMain "
		  "@run:11",
		  1);
	words_add(&words,
		  "libc:clone3 libc:start_thread libpython:thread_run @run:11 libc:read", 1);
	by_hand_close(words.writer);

	shown_must_be("shared.fathom", false,
		      "1 Worker.run:11\n"
		      "1 Worker.run:11 read\n");
}

static void the_frames_of_a_program_that_embeds_python_stay(void **state)
{
	struct words words;

	(void)state;
	begin_shared(&words, "embedded.fathom", "/usr/bin/gdb");
	words_add(&words,
		  "program:_start libc:__libc_start_main program:main libpython:PyObject_Call "
		  "@run:11 "
		  "libpython:cfunction_call program:gdbpy_read libc:pread",
		  1);
	words_add(&words,
		  "libc:clone3 libc:start_thread program:pool_main libpython:PyObject_Call "
		  "@run:11",
		  1);
	words_add(&words, "libc:clone3 libc:start_thread program:pool_main program:compute", 1);
	by_hand_close(words.writer);

	shown_must_be("embedded.fathom", false,
		      "1 _start __libc_start_main main Worker.run:11 gdbpy_read pread\n"
		      "1 clone3 start_thread pool_main Worker.run:11\n"
		      "1 clone3 start_thread pool_main compute\n");
}

static void a_program_with_python_linked_into_it_loses_pythons_names_only(void **state)
{
	struct words words;

	(void)state;
	words_begin(&words, "linked.fathom");
	words_add_module(&words, "program", "/usr/bin/blender");
	words_add_interpreter(&words, "program", "3.11.2", NULL);
	words_add_code(&words, "run", "Worker.run", "/srv/app/worker.py", 10);
	words_add(&words,
		  "program:main program:PyRun_File @run:11 program:_PyEval_EvalFrameDefault "
		  "program:render",
		  1);
	words_add(&words, "program:main program:Py_BytesMain @run:11 program:Pyramid", 1);
	by_hand_close(words.writer);

	shown_must_be("linked.fathom", false,
		      "1 main Worker.run:11 render\n"
		      "1 main Worker.run:11 Pyramid\n");
}

static void an_extension_whose_name_begins_as_pythons_is_no_plumbing(void **state)
{
	struct words words;

	(void)state;
	begin_static(&words, "extension.fathom");
	words_add_module(&words, "magick", "/srv/lib/python_magick.so");
	words_add_module(&words, "stub", "/usr/lib/libpython3.so");
	words_add(&words, START "@<module>:1 " LOOP " magick:resize stub:jump", 1);
	by_hand_close(words.writer);

	shown_must_be("extension.fathom", false, "1 <module>:1 resize\n");
}

static void without_an_interpreter_nothing_is_folded(void **state)
{
	struct words words;

	(void)state;
	words_begin(&words, "none.fathom");
	words_add_module(&words, "python", "/usr/bin/python3.16");
	words_add(&words, "python:_start python:main", 1);
	by_hand_close(words.writer);

	shown_must_be("none.fathom", false, "1 _start main\n");
	CLEANUP(profile_freep) struct profile *profile = shown_load("none.fathom", false);

	assert_false(profile_get_info(profile)->is_folded);
}

static void names_are_qualified_and_both_are_kept(void **state)
{
	struct words words;

	(void)state;
	begin_static(&words, "names.fathom");
	words_add(&words, START "@run:12", 1);
	by_hand_close(words.writer);
	/* The second time the functions come from where the first stored them. */
	for (int i = 0; i < 2; i++) {
		CLEANUP(profile_freep)
		struct profile *profile = shown_load("names.fathom", false);
		const struct weight *weight = profile_get_weight(profile, 0);

		for (size_t k = 0; weight->samples == 0; k++)
			weight = profile_get_weight(profile, k);
		const struct function *function = shown_function(profile, weight->stack);

		assert_int_equal(function->language, LANGUAGE_PYTHON);
		assert_string_equal(function->name, "Worker.run");
		assert_string_equal(function->plain_name, "run");
		assert_string_equal(function->file, "/srv/app/worker.py");
		assert_int_equal(function->line, 10);
		assert_int_equal(function->module.n, 0);
	}
}

static int count_python(void *context, const struct recording_function *row)
{
	int *count = context;

	if (row->language == LANGUAGE_PYTHON && strcmp(row->name, "Worker.run") == 0 &&
	    strcmp(row->file, "/srv/app/worker.py") == 0 && row->line == 10)
		++*count;
	return 0;
}

static void functions_and_locations_are_stored_for_other_readers(void **state)
{
	CLEANUP(recording_reader_closep) struct recording_reader *reader = NULL;
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	struct words words;
	struct error err;
	int count = 0;

	(void)state;
	begin_static(&words, "stored.fathom");
	words_add(&words, START "@run:12", 1);
	words_add(&words, START "@run:13", 1);
	by_hand_close(words.writer);
	assert_int_equal(load_symbolize(by_hand_path("stored.fathom"),
					&(struct load_options){ .was_just_recorded = true },
					notes, &err),
			 0);

	assert_int_equal(recording_reader_open(by_hand_path("stored.fathom"), &reader, &err),
			 0);
	assert_true(recording_reader_is_symbolized(reader));
	assert_int_equal(recording_reader_each_function(reader, count_python, &count, &err), 0);
	assert_int_equal(count, 1);
}

static void a_frame_of_a_code_that_is_not_there_is_damage(void **state)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	struct profile *profile = NULL;
	struct words words;
	struct error err;

	(void)state;
	words_begin(&words, "damaged.fathom");
	by_hand_add_samples(words.writer,
			    by_hand_add_stack(words.writer, 0,
					      words.interpreted[RECORDING_LANGUAGE_PYTHON],
					      (uint64_t)7 << 32 | 12),
			    1, 1000);
	by_hand_close(words.writer);
	assert_int_equal(load_recording(by_hand_path("damaged.fathom"), NULL, notes, &profile,
					NULL, &err),
			 -EBADMSG);
	assert_string_equal(err.text, "the recording is damaged: frame 1 names code 7, which "
				      "is not there");
}

static void interpreters_that_say_the_same_are_one_of_several_processes(void **state)
{
	struct words words;

	(void)state;
	begin_static(&words, "interpreters.fathom");
	words_add_interpreter(&words, "python", "3.11.2", NULL);
	words_add_module(&words, "newer", "/opt/bin/python3.16");
	words_add_interpreter(&words, "newer", "3.16?", "CPython 3.16 is not known yet");
	words_add(&words, START "@run:12", 1);
	by_hand_close(words.writer);
	CLEANUP(profile_freep)
	struct profile *profile = shown_load("interpreters.fathom", false);
	const struct profile_info *info = profile_get_info(profile);

	assert_true(info->is_folded);
	assert_int_equal(info->interpreter_count, 2);
	assert_string_equal(info->interpreters[0].language, "python");
	assert_string_equal(info->interpreters[0].version, "3.11.2");
	assert_string_equal(info->interpreters[0].path, "/usr/bin/python3.11");
	assert_null(info->interpreters[0].why_not);
	assert_int_equal(info->interpreters[0].process_count, 2);
	assert_string_equal(info->interpreters[1].why_not, "CPython 3.16 is not known yet");
	CLEANUP(profile_freep) struct profile *native = shown_load("interpreters.fathom", true);

	assert_false(profile_get_info(native)->is_folded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plumbing_is_folded_into_the_frame_outside_of_it),
		cmocka_unit_test(the_agent_is_left_out_between_a_program_and_what_it_replaces),
		cmocka_unit_test(an_import_is_one_frame),
		cmocka_unit_test(calls_of_plumbing_are_not_those_of_what_it_is_folded_into),
		cmocka_unit_test(c_stands_between_two_python_functions_by_its_python_name),
		cmocka_unit_test(a_builtin_hides_what_its_standard_module_does_for_it),
		cmocka_unit_test(
			trampolines_are_plumbing_and_other_code_made_at_run_time_is_not),
		cmocka_unit_test(a_stack_without_python_is_native_as_it_is),
		cmocka_unit_test(the_small_program_that_starts_a_shared_python_is_plumbing),
		cmocka_unit_test(the_frames_of_a_program_that_embeds_python_stay),
		cmocka_unit_test(a_program_with_python_linked_into_it_loses_pythons_names_only),
		cmocka_unit_test(an_extension_whose_name_begins_as_pythons_is_no_plumbing),
		cmocka_unit_test(without_an_interpreter_nothing_is_folded),
		cmocka_unit_test(names_are_qualified_and_both_are_kept),
		cmocka_unit_test(functions_and_locations_are_stored_for_other_readers),
		cmocka_unit_test(a_frame_of_a_code_that_is_not_there_is_damage),
		cmocka_unit_test(interpreters_that_say_the_same_are_one_of_several_processes),
	};

	return cmocka_run_group_tests(tests, by_hand_make_folder, by_hand_remove_folder);
}
