#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

/*
 * A recording with Python in it.  Frames are written as words: "python:PyEval" is at an address
 * of its own in a module, "@work:12" a frame of a code that was added, at a line.
 */
struct hand {
	struct recording_writer *writer;
	struct {
		const char *name;
		uint32_t id;
	} modules[8], codes[8];
	size_t module_count, code_count;
	uint32_t interpreted;
	uint32_t frame_count; /* all that were named */
};

/* What by_hand_name_frame() cannot say: which module a function is in. */
static void name_frame(struct hand *hand, uint32_t frame, uint32_t module, const char *name)
{
	uint32_t id = 0;

	recording_writer_add_function(
		hand->writer, &(struct recording_function){ .module = module, .name = name },
		&id);
	assert_int_equal(recording_writer_add_location(
				 hand->writer, &(struct recording_location){ .frame = frame,
									     .function = id }),
			 0);
}

static void begin(struct hand *hand, const char *file)
{
	*hand = (struct hand){ .writer = by_hand_create(file) };
	by_hand_add_thread(hand->writer);
	hand->interpreted =
		by_hand_add_module(hand->writer, MODULE_KIND_INTERPRETED, "[python]");
}

static void add_module(struct hand *hand, const char *name, const char *path)
{
	hand->modules[hand->module_count].name = name;
	hand->modules[hand->module_count++].id =
		by_hand_add_module(hand->writer, MODULE_KIND_ELF, path);
}

static uint32_t module_of(const struct hand *hand, const char *name, size_t len)
{
	for (size_t i = 0; i < hand->module_count; i++)
		if (strlen(hand->modules[i].name) == len &&
		    memcmp(hand->modules[i].name, name, len) == 0)
			return hand->modules[i].id;
	fail_msg("no module %.*s", (int)len, name);
	return 0;
}

static void add_code(struct hand *hand, const char *name, const char *qualified,
		     const char *file, uint32_t line)
{
	hand->codes[hand->code_count].name = name;
	hand->codes[hand->code_count++].id =
		by_hand_add_code(hand->writer, name, qualified, file, line);
}

static uint64_t code_address(const struct hand *hand, const char *name, size_t len)
{
	for (size_t i = 0; i < hand->code_count; i++)
		if (strlen(hand->codes[i].name) == len &&
		    memcmp(hand->codes[i].name, name, len) == 0)
			return (uint64_t)hand->codes[i].id << 32;
	fail_msg("no code %.*s", (int)len, name);
	return 0;
}

static uint32_t add_native(struct hand *hand, uint32_t parent, const char *word)
{
	size_t len = strcspn(word, ":");
	uint32_t module = module_of(hand, word, len), frame = 0, stack = 0;
	uint64_t address = 0;

	/* The same name is the same address. */
	for (const char *at = word + len; *at; at++)
		address = address * 31 + (unsigned char)*at;
	address &= 0xffffff;
	recording_writer_add_frame(
		hand->writer, &(struct recording_frame){ .module = module, .address = address },
		&frame);
	if (frame > hand->frame_count) {
		hand->frame_count = frame;
		name_frame(hand, frame, module, word + len + 1);
	}
	recording_writer_add_stack(
		hand->writer, &(struct recording_stack){ .parent = parent, .frame = frame },
		&stack);
	return stack;
}

static uint32_t add_interpreted(struct hand *hand, uint32_t parent, const char *word)
{
	size_t len = strcspn(word, ":");
	uint64_t line = word[len] ? strtoul(word + len + 1, NULL, 10) : 0;
	uint32_t frame = 0, stack = 0;

	recording_writer_add_frame(
		hand->writer,
		&(struct recording_frame){ .module = hand->interpreted,
					   .address = code_address(hand, word, len) | line },
		&frame);
	hand->frame_count = frame > hand->frame_count ? frame : hand->frame_count;
	recording_writer_add_stack(
		hand->writer, &(struct recording_stack){ .parent = parent, .frame = frame },
		&stack);
	return stack;
}

/* The outermost frame first, with spaces between them. */
static void add(struct hand *hand, const char *words, int count)
{
	CLEANUP(freep) char *copy = xstrdup(words);
	char *rest = copy;
	uint32_t stack = 0;

	for (char *word; (word = strsep(&rest, " "));)
		stack = *word == '@' ? add_interpreted(hand, stack, word + 1)
				     : add_native(hand, stack, word);
	by_hand_add_samples(hand->writer, stack, count, 1000);
}

static struct profile *load(const char *file, bool shows_plumbing)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	struct profile *profile = NULL;
	struct error err;

	if (load_recording(by_hand_path(file),
			   &(struct load_options){ .shows_plumbing = shows_plumbing }, notes,
			   &profile, &err) < 0)
		fail_msg("%s", err.text);
	return profile;
}

static const struct function *function_of(const struct profile *profile, struct stack_id stack)
{
	const struct frame *frame =
		profile_get_frame(profile, profile_get_stack(profile, stack)->frame);

	return profile_get_function(profile, frame->function);
}

static void add_path(struct text *out, const struct profile *profile, struct stack_id stack)
{
	const struct stack *row = profile_get_stack(profile, stack);

	if (row->parent.n) {
		add_path(out, profile, row->parent);
		text_add(out, " ");
	}
	text_add(out, function_of(profile, stack)->name);
	if (profile_get_frame(profile, row->frame)->line)
		text_addf(out, ":%u", profile_get_frame(profile, row->frame)->line);
}

/* Every stack with samples, a line each in the order they came. */
static void assert_stacks(const char *file, bool shows_plumbing, const char *expected)
{
	CLEANUP(profile_freep) struct profile *profile = load(file, shows_plumbing);
	struct text text = { 0 };

	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);

		if (weight->samples == 0)
			continue;
		text_addf(&text, "%u ", (unsigned int)weight->samples);
		add_path(&text, profile, weight->stack);
		text_add(&text, "\n");
	}
	assert_string_equal(text_string(&text), expected);
	text_done(&text);
}

static uint64_t sum_of(const char *file, bool shows_plumbing)
{
	CLEANUP(profile_freep) struct profile *profile = load(file, shows_plumbing);
	uint64_t ns = 0;

	for (size_t i = 0; i < profile_weight_count(profile); i++)
		ns += profile_get_weight(profile, i)->ns;
	return ns;
}

/* Debian's: the loop, main() and most modules in one stripped program. */
static void begin_static(struct hand *hand, const char *file)
{
	begin(hand, file);
	add_module(hand, "python", "/usr/bin/python3.11");
	add_module(hand, "libc", "/lib/x86_64-linux-gnu/libc.so.6");
	add_module(hand, "libm", "/lib/x86_64-linux-gnu/libm.so.6");
	add_module(hand, "speedups", "/srv/app/speedups.cpython-311-x86_64-linux-gnu.so");
	by_hand_add_interpreter(hand->writer, module_of(hand, "python", 6), "3.11.2", NULL);
	add_code(hand, "<module>", "<module>", "/srv/app/main.py", 1);
	add_code(hand, "run", "Worker.run", "/srv/app/worker.py", 10);
	add_code(hand, "key", "sort.<locals>.key", "/srv/app/main.py", 30);
	add_code(hand, "math.sin", NULL, NULL, 0);
	add_code(hand, "builtins.sorted", NULL, NULL, 0);
}

#define START "python:_start libc:__libc_start_call_main python:main python:Py_RunMain "
#define LOOP  "python:_PyEval_EvalFrameDefault"

static void plumbing_is_folded_into_the_frame_outside_of_it(void **state)
{
	struct hand hand;

	(void)state;
	begin_static(&hand, "folded.fathom");
	add(&hand, START "@<module>:3 @run:12 " LOOP, 2);
	add(&hand, START "@<module>:3 @run:12 " LOOP " python:PyNumber_Add python:long_add", 3);
	add(&hand, START "@<module>:3 @run:13 " LOOP " python:PyList_Append libc:realloc", 4);
	add(&hand,
	    START "@<module>:3 @run:14 " LOOP
		  " python:cfunction_call speedups:scale speedups:inner",
	    5);
	by_hand_close(hand.writer);

	assert_stacks("folded.fathom", false,
		      "5 <module>:3 Worker.run:12\n"
		      "4 <module>:3 Worker.run:13 realloc\n"
		      "5 <module>:3 Worker.run:14 scale inner\n");
	assert_stacks(
		"folded.fathom", true,
		"2 _start __libc_start_call_main main Py_RunMain <module>:3 Worker.run:12 "
		"_PyEval_EvalFrameDefault\n"
		"3 _start __libc_start_call_main main Py_RunMain <module>:3 Worker.run:12 "
		"_PyEval_EvalFrameDefault PyNumber_Add long_add\n"
		"4 _start __libc_start_call_main main Py_RunMain <module>:3 Worker.run:13 "
		"_PyEval_EvalFrameDefault PyList_Append realloc\n"
		"5 _start __libc_start_call_main main Py_RunMain <module>:3 Worker.run:14 "
		"_PyEval_EvalFrameDefault cfunction_call scale inner\n");
	assert_int_equal(sum_of("folded.fathom", false), sum_of("folded.fathom", true));
}

static void c_stands_between_two_python_functions_by_its_python_name(void **state)
{
	struct hand hand;

	(void)state;
	begin_static(&hand, "sorted.fathom");
	add(&hand,
	    START "@<module>:5 " LOOP " python:cfunction_vectorcall @builtins.sorted "
		  "python:builtin_sorted python:PyObject_Vectorcall @key:31 " LOOP,
	    1);
	add(&hand,
	    START "@<module>:5 " LOOP " python:cfunction_vectorcall @builtins.sorted "
		  "python:builtin_sorted",
	    2);
	add(&hand, START "@<module>:6 " LOOP " @math.sin python:math_1 libm:__sin_fma", 3);
	by_hand_close(hand.writer);

	assert_stacks("sorted.fathom", false,
		      "1 <module>:5 builtins.sorted sort.<locals>.key:31\n"
		      "2 <module>:5 builtins.sorted\n"
		      "3 <module>:6 math.sin __sin_fma\n");
}

static void a_stack_without_python_is_native_as_it_is(void **state)
{
	struct hand hand;

	(void)state;
	begin_static(&hand, "startup.fathom");
	add(&hand, START "python:Py_InitializeFromConfig libc:malloc", 1);
	add(&hand, START "@<module>:1 " LOOP, 1);
	add(&hand, START "python:Py_FinalizeEx python:dict_dealloc", 1);
	by_hand_close(hand.writer);

	assert_stacks("startup.fathom", false,
		      "1 _start __libc_start_call_main main Py_RunMain Py_InitializeFromConfig "
		      "malloc\n"
		      "1 <module>:1\n"
		      "1 _start __libc_start_call_main main Py_RunMain Py_FinalizeEx "
		      "dict_dealloc\n");
}

/* As libpython is: main() is in a small program of its own. */
static void begin_shared(struct hand *hand, const char *file, const char *program)
{
	begin(hand, file);
	add_module(hand, "libpython", "/opt/python/lib/libpython3.12.so.1.0");
	add_module(hand, "program", program);
	add_module(hand, "libc", "/lib/x86_64-linux-gnu/libc.so.6");
	by_hand_add_interpreter(hand->writer, module_of(hand, "libpython", 9), "3.12.1", NULL);
	add_code(hand, "run", "Worker.run", "/srv/app/worker.py", 10);
}

static void the_small_program_that_starts_a_shared_python_is_plumbing(void **state)
{
	struct hand hand;

	(void)state;
	begin_shared(&hand, "shared.fathom", "/opt/python/bin/python3.12");
	add(&hand,
	    "program:_start libc:__libc_start_main program:main libpython:Py_BytesMain @run:11",
	    1);
	add(&hand, "libc:clone3 libc:start_thread libpython:thread_run @run:11 libc:read", 1);
	by_hand_close(hand.writer);

	assert_stacks("shared.fathom", false,
		      "1 Worker.run:11\n"
		      "1 Worker.run:11 read\n");
}

static void the_frames_of_a_program_that_embeds_python_stay(void **state)
{
	struct hand hand;

	(void)state;
	begin_shared(&hand, "embedded.fathom", "/usr/bin/gdb");
	add(&hand,
	    "program:_start libc:__libc_start_main program:main libpython:PyObject_Call "
	    "@run:11 "
	    "libpython:cfunction_call program:gdbpy_read libc:pread",
	    1);
	add(&hand,
	    "libc:clone3 libc:start_thread program:pool_main libpython:PyObject_Call @run:11",
	    1);
	add(&hand, "libc:clone3 libc:start_thread program:pool_main program:compute", 1);
	by_hand_close(hand.writer);

	assert_stacks("embedded.fathom", false,
		      "1 _start __libc_start_main main Worker.run:11 gdbpy_read pread\n"
		      "1 clone3 start_thread pool_main Worker.run:11\n"
		      "1 clone3 start_thread pool_main compute\n");
}

static void a_program_with_python_linked_into_it_loses_pythons_names_only(void **state)
{
	struct hand hand;

	(void)state;
	begin(&hand, "linked.fathom");
	add_module(&hand, "program", "/usr/bin/blender");
	by_hand_add_interpreter(hand.writer, module_of(&hand, "program", 7), "3.11.2", NULL);
	add_code(&hand, "run", "Worker.run", "/srv/app/worker.py", 10);
	add(&hand,
	    "program:main program:PyRun_File @run:11 program:_PyEval_EvalFrameDefault "
	    "program:render",
	    1);
	by_hand_close(hand.writer);

	assert_stacks("linked.fathom", false, "1 main Worker.run:11 render\n");
}

static void an_extension_whose_name_begins_as_pythons_is_no_plumbing(void **state)
{
	struct hand hand;

	(void)state;
	begin_static(&hand, "extension.fathom");
	add_module(&hand, "magick", "/srv/lib/python_magick.so");
	add_module(&hand, "stub", "/usr/lib/libpython3.so");
	add(&hand, START "@<module>:1 " LOOP " magick:resize stub:jump", 1);
	by_hand_close(hand.writer);

	assert_stacks("extension.fathom", false, "1 <module>:1 resize\n");
}

static void without_an_interpreter_nothing_is_folded(void **state)
{
	struct hand hand;

	(void)state;
	begin(&hand, "none.fathom");
	add_module(&hand, "python", "/usr/bin/python3.16");
	add(&hand, "python:_start python:main", 1);
	by_hand_close(hand.writer);

	assert_stacks("none.fathom", false, "1 _start main\n");
	CLEANUP(profile_freep) struct profile *profile = load("none.fathom", false);

	assert_false(profile_get_info(profile)->is_folded);
}

static void names_are_qualified_and_both_are_kept(void **state)
{
	struct hand hand;

	(void)state;
	begin_static(&hand, "names.fathom");
	add(&hand, START "@run:12", 1);
	by_hand_close(hand.writer);
	/* The second time the functions come from where the first stored them. */
	for (int i = 0; i < 2; i++) {
		CLEANUP(profile_freep) struct profile *profile = load("names.fathom", false);
		const struct weight *weight = profile_get_weight(profile, 0);

		for (size_t k = 0; weight->samples == 0; k++)
			weight = profile_get_weight(profile, k);
		const struct function *function = function_of(profile, weight->stack);

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
	struct hand hand;
	struct error err;
	int count = 0;

	(void)state;
	begin_static(&hand, "stored.fathom");
	add(&hand, START "@run:12", 1);
	add(&hand, START "@run:13", 1);
	by_hand_close(hand.writer);
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
	struct hand hand;
	struct error err;

	(void)state;
	begin(&hand, "damaged.fathom");
	by_hand_add_samples(
		hand.writer,
		by_hand_add_stack(hand.writer, 0, hand.interpreted, (uint64_t)7 << 32 | 12), 1,
		1000);
	by_hand_close(hand.writer);
	assert_int_equal(
		load_recording(by_hand_path("damaged.fathom"), NULL, notes, &profile, &err),
		-EBADMSG);
	assert_string_equal(err.text, "the recording is damaged: frame 1 names code 7, which "
				      "is not there");
}

static void interpreters_that_say_the_same_are_one_of_several_processes(void **state)
{
	struct hand hand;

	(void)state;
	begin_static(&hand, "interpreters.fathom");
	by_hand_add_interpreter(hand.writer, module_of(&hand, "python", 6), "3.11.2", NULL);
	add_module(&hand, "newer", "/opt/bin/python3.16");
	by_hand_add_interpreter(hand.writer, module_of(&hand, "newer", 5), "3.16?",
				"CPython 3.16 is not known yet");
	add(&hand, START "@run:12", 1);
	by_hand_close(hand.writer);
	CLEANUP(profile_freep) struct profile *profile = load("interpreters.fathom", false);
	const struct profile_info *info = profile_get_info(profile);

	assert_true(info->is_folded);
	assert_int_equal(info->interpreter_count, 2);
	assert_string_equal(info->interpreters[0].language, "python");
	assert_string_equal(info->interpreters[0].version, "3.11.2");
	assert_string_equal(info->interpreters[0].path, "/usr/bin/python3.11");
	assert_null(info->interpreters[0].why_not);
	assert_int_equal(info->interpreters[0].process_count, 2);
	assert_string_equal(info->interpreters[1].why_not, "CPython 3.16 is not known yet");
	CLEANUP(profile_freep) struct profile *native = load("interpreters.fathom", true);

	assert_false(profile_get_info(native)->is_folded);
}

static int make_folder(void **state)
{
	(void)state;
	by_hand_make_folder();
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	by_hand_remove_folder();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plumbing_is_folded_into_the_frame_outside_of_it),
		cmocka_unit_test(c_stands_between_two_python_functions_by_its_python_name),
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

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
