/* Functions of interpreted programs: what a hostile ring may say of them, and for how long. */
#include "sent_codes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "abi/walk_status.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "collect/processes/image.h"
#include "record/reader.h"
#include "record/writer.h"

/* From the fifth byte on, the second line of the function. */
#define TWO_LINES "\4\1"

static const struct made_code run = {
	KEY(1), RING_CODE_PYTHON, PYTHON_TABLE_LNOTAB, 30, "run", "A.run", "/a.py", TWO_LINES
};
static const struct made_code walk = { KEY(2),  RING_CODE_PYTHON, PYTHON_TABLE_LNOTAB,
				       70,      "walk",           "B.walk",
				       "/b.py", TWO_LINES };

static int setup(void **state)
{
	const int rc = scene_setup(state);
	struct scene *scene = *state;

	scene->image->languages = PYTHON;
	place(scene, 0x10000, 0x20000, "/made", 0);
	return rc;
}

#define UNKNOWN "[unknown Python function]:0"

static void frames_get_names_and_the_line_that_is_executed(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;

	put_code(ring, &run);
	put_code(ring, &walk);
	put(ring, RING_STACK,
	    (const u64[]){ 0, 5, IN(1, 2), IN(1, 4), 0x10100, IN(2, RING_NO_INSTRUCTION) }, 6);
	put_sample(ring, 77, START_NS + 10, 5, 0x10050);
	pump_all(scene, 0);
	const struct content content = read_content(scene);

	assert_sample(&content, 0, "0x50 < A.run:30 < A.run:31 < 0x100 < B.walk:0");
	assert_int_equal(content.endings[0], WALK_COMPLETE);
	assert_int_equal(content.code_count, 2);
	assert_int_equal(content.languages[1], RECORDING_LANGUAGE_PYTHON);
	assert_string_equal(module_of_code(&content, 1), "[python]");
	assert_string_equal(content.paths[1], "/b.py");
	assert_int_equal(content.first_lines[1], 70);
}

/* Lines that were found are kept, a few of each function. */
static void instructions_keep_their_own_lines(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;

	put_code(ring, &run);
	put(ring, RING_STACK,
	    (const u64[]){ 0, 5, IN(1, 2), IN(1, 10), IN(1, 2), IN(1, 10), IN(1, 0), IN(1, 4) },
	    8);
	put_sample(ring, 77, START_NS + 10, 5, 0x10050);
	pump_all(scene, 0);
	const struct content content = read_content(scene);

	assert_sample(&content, 0,
		      "0x50 < A.run:30 < A.run:31 < A.run:30 < A.run:31 < A.run:30 < A.run:31");
}

static void the_same_code_twice_is_one(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;
	struct made_code elsewhere = run;

	elsewhere.key = KEY(9);
	put_code(ring, &run);
	put_code(ring, &run);
	put_code(ring, &elsewhere);
	put_stack(ring, 5, IN(1, 0), IN(9, 0));
	put_sample(ring, 77, START_NS + 10, 5, 0x10050);
	pump_all(scene, 0);
	const struct content content = read_content(scene);

	assert_sample(&content, 0, "0x50 < A.run:30 < A.run:30");
	assert_int_equal(content.code_count, 1);
}

static void what_python_calls_a_c_function_has_no_file_and_no_line(void **state)
{
	const struct made_code sorted = {
		KEY(1),   RING_CODE_PYTHON_BUILTIN, PYTHON_TABLE_LNOTAB, 7, "sorted", "", "",
		TWO_LINES
	};
	struct scene *scene = *state;

	put_code(scene->image->ring, &sorted);
	put_stack(scene->image->ring, 5, IN(1, 4), 0x10100);
	put_sample(scene->image->ring, 77, START_NS + 10, 5, 0x10050);
	pump_all(scene, 0);
	const struct content content = read_content(scene);

	assert_sample(&content, 0, "0x50 < sorted:0 < 0x100");
	assert_string_equal(content.paths[1], "no file");
	assert_int_equal(content.first_lines[1], 0);
}

static const struct made_code times = { KEY(3),  RING_CODE_RUBY_BUILTIN, 0,       7,
					"times", "Integer#times",        "/c.rb", "" };
static const struct made_code bar = { KEY(4), RING_CODE_RUBY, 0,       70,
				      "bar",  "Foo#bar",      "/b.rb", "" };

static void rubys_frames_bring_their_line(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;

	scene->image->languages = RUBY;
	put_code(ring, &times);
	put_code(ring, &bar);
	put(ring, RING_STACK,
	    (const u64[]){ 0, 5, IN(4, 75), IN(3, 9), IN(4, 1), IN(4, RING_NO_INSTRUCTION) },
	    6);
	put_sample(ring, 77, START_NS + 10, 5, 0x10050);
	pump_all(scene, 0);
	const struct content content = read_content(scene);

	assert_sample(&content, 0,
		      "0x50 < Foo#bar:75 < Integer#times:0 < Foo#bar:1 < Foo#bar:0");
	assert_int_equal(content.code_count, 2);
	assert_int_equal(content.languages[1], RECORDING_LANGUAGE_RUBY);
	assert_string_equal(module_of_code(&content, 1), "[ruby]");
	assert_string_equal(content.paths[1], "/b.rb");
	assert_int_equal(content.first_lines[1], 70);
	assert_string_equal(content.paths[2], "no file");
	assert_int_equal(content.first_lines[2], 0);
}

static void a_process_may_have_both_languages(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;

	scene->image->languages = PYTHON | RUBY;
	put_code(ring, &run);
	put_code(ring, &bar);
	put_stack(ring, 5, IN(1, 4), IN(4, 71));
	put_sample(ring, 77, START_NS + 10, 5, 0x10050);
	pump_all(scene, 0);
	const struct content content = read_content(scene);

	assert_sample(&content, 0, "0x50 < A.run:31 < Foo#bar:71");
	assert_int_equal(content.languages[1], RECORDING_LANGUAGE_RUBY);
	assert_int_equal(content.languages[2], RECORDING_LANGUAGE_PYTHON);
	assert_string_equal(module_of_code(&content, 1), "[ruby]");
	assert_string_equal(module_of_code(&content, 2), "[python]");
}

static void what_is_unknown_is_of_the_language_that_the_process_has(void **state)
{
	static const struct {
		const char *name;
		uint32_t languages, language;
		const char *due, *module;
	} cases[] = {
		{ "CPython alone", PYTHON, RECORDING_LANGUAGE_PYTHON,
		  "[unknown Python function]", "[python]" },
		{ "CRuby alone", RUBY, RECORDING_LANGUAGE_RUBY, "[unknown Ruby method]",
		  "[ruby]" },
		{ "both", PYTHON | RUBY, 0, "[unknown function]", "[interpreted]" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		void *own = NULL;

		assert_int_equal(setup(&own), 0);
		struct scene *scene = own;

		scene->image->languages = cases[i].languages;
		put_stack(scene->image->ring, 5, IN(1, 4), 0x10100);
		put_sample(scene->image->ring, 77, START_NS + 10, 5, 0x10050);
		pump_all(scene, 0);
		const struct content content = read_content(scene);

		if (strcmp(content.codes[1], cases[i].due) != 0)
			fail_msg("%s: %s", cases[i].name, content.codes[1]);
		assert_int_equal(content.languages[1], cases[i].language);
		assert_string_equal(module_of_code(&content, 1), cases[i].module);
		scene_teardown(&own);
	}
	(void)state;
}

static void texts_may_be_any_bytes(void **state)
{
	const struct made_code odd = { KEY(1),
				       RING_CODE_PYTHON,
				       PYTHON_TABLE_NONE,
				       1,
				       "\xff\xfe",
				       "\xc3\xa4.\xf0\x9f\x90\x8d",
				       "/\xff.py",
				       "" };
	struct scene *scene = *state;

	put_code(scene->image->ring, &odd);
	put_stack(scene->image->ring, 5, IN(1, RING_NO_INSTRUCTION), 0x10100);
	put_sample(scene->image->ring, 77, START_NS + 10, 5, 0x10050);
	pump_all(scene, 0);
	const struct content content = read_content(scene);

	assert_sample(&content, 0, "0x50 < \xc3\xa4.\xf0\x9f\x90\x8d:0 < 0x100");
	assert_string_equal(content.paths[1], "/\xff.py");
}

static void a_name_that_ends_before_it_begins_is_none(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;

	put(ring, RING_CODE, (const u64[]){ 0, KEY(1), RING_CODE_PYTHON, 1, 0 }, 5);
	/* The name is "a", the qualified name and the file are a NUL. */
	put(ring, RING_CODE, (const u64[]){ 0, KEY(2), RING_CODE_PYTHON, 0x100010001, 0x61 },
	    5);
	put_stack(ring, 5, IN(1, RING_NO_INSTRUCTION), IN(2, RING_NO_INSTRUCTION));
	put_sample(ring, 77, START_NS + 10, 5, 0x10050);
	pump_all(scene, 0);
	const struct content content = read_content(scene);

	assert_sample(&content, 0, "0x50 < " UNKNOWN " < a:0");
	assert_string_equal(content.paths[1], "no file");
	assert_string_equal(content.paths[2], "no file");
}

static void a_code_that_comes_late_names_what_comes_after_it(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;

	put_stack(ring, 5, IN(1, 0), 0x10100);
	put_sample(ring, 77, START_NS + 10, 5, 0x10050);
	put_code(ring, &run);
	put_sample(ring, 77, START_NS + 20, 5, 0x10050);
	pump_all(scene, 0);
	const struct content content = read_content(scene);

	assert_sample(&content, 0, "0x50 < " UNKNOWN " < 0x100");
	assert_sample(&content, 1, "0x50 < A.run:30 < 0x100");
}

static void a_key_that_two_codes_claim_names_nothing_any_more(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;
	struct made_code other = walk;

	other.key = run.key;
	put_code(ring, &run);
	put_stack(ring, 5, IN(1, 0), 0x10100);
	put_sample(ring, 77, START_NS + 10, 5, 0x10050);
	put_code(ring, &other);
	put_sample(ring, 77, START_NS + 20, 5, 0x10050);
	put_code(ring, &run);
	put_stack(ring, 6, IN(1, 0), 0x10200);
	put_sample(ring, 77, START_NS + 30, 6, 0x10050);
	pump_all(scene, 0);
	const struct content content = read_content(scene);

	assert_sample(&content, 0, "0x50 < A.run:30 < 0x100");
	assert_sample(&content, 1, "0x50 < " UNKNOWN " < 0x100");
	assert_sample(&content, 2, "0x50 < " UNKNOWN " < 0x200");
}

static void next_round(struct scene *scene)
{
	pump_begin_round(&scene->pump);
	pump_all(scene, 0);
}

static void a_key_may_be_another_codes_in_another_epoch(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;
	struct made_code other = walk;

	other.key = run.key;
	scene->pump.rows.epochs.limit = 1;
	put_code(ring, &run);
	put_stack(ring, 5, IN(1, 0), 0x10100);
	put_stack(ring, 7, IN(1, 0), 0x10300);
	next_round(scene);
	next_round(scene);
	assert_int_equal(scene->pump.rows.epochs.number, 1);
	put_code(ring, &other);
	put_stack(ring, 6, IN(1, 0), 0x10200);
	put_sample(ring, 77, START_NS + 10, 6, 0x10050);
	/* Of the epoch before, and translated only now. */
	put_sample(ring, 77, START_NS + 20, 7, 0x10050);
	put_sample(ring, 77, START_NS + 30, 5, 0x10050);
	pump_all(scene, 0);
	const struct content content = read_content(scene);

	assert_sample(&content, 0, "0x50 < B.walk:70 < 0x200");
	assert_sample(&content, 1, "0x50 < A.run:30 < 0x300");
	assert_sample(&content, 2, "0x50 < A.run:30 < 0x100");
}

static void what_was_forgotten_is_unknown_until_it_is_sent_again(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;

	scene->pump.rows.epochs.limit = 1;
	put_code(ring, &run);
	for (u64 round = 0; round < 6; round++) {
		next_round(scene);
		put_stack(ring, 100 + round, 0x10300, 0x10200);
	}
	put_stack(ring, 5, IN(1, 0), 0x10100);
	put_sample(ring, 77, START_NS + 10, 5, 0x10050);
	put_code(ring, &run);
	put_stack(ring, 6, IN(1, 0), 0x10100);
	put_sample(ring, 77, START_NS + 20, 6, 0x10050);
	pump_all(scene, 0);
	const struct content content = read_content(scene);

	assert_sample(&content, 0, "0x50 < " UNKNOWN " < 0x100");
	assert_sample(&content, 1, "0x50 < A.run:30 < 0x100");
	assert_int_equal(content.code_count, 2);
}

static void codes_fill_an_epoch_by_number_and_by_size(void **state)
{
	struct scene *scene = *state;
	struct made_code code = run;

	scene->pump.rows.epochs.limit_bytes = 1000;
	for (u32 i = 0; i < 200; i++) {
		code.key = KEY(i + 1);
		put_code(scene->image->ring, &code);
		next_round(scene);
		assert_in_range(scene->pump.rows.epochs.young.bytes, 0, 1100);
		assert_in_range(scene->pump.rows.epochs.old.bytes, 0, 1100);
	}
	assert_in_range(scene->pump.rows.epochs.number, 5, 100);
	scene->pump.rows.epochs.limit_bytes = 1U << 30;
	scene->pump.rows.epochs.limit = 1;
	const uint32_t number = scene->pump.rows.epochs.number;

	put_code(scene->image->ring, &run);
	next_round(scene);
	next_round(scene);
	assert_in_range(scene->pump.rows.epochs.number, number + 1, number + 2);
}

static void the_codes_of_one_image_are_not_anothers(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;
	const uint32_t row = scene->image->row;

	put_code(ring, &run);
	pump_all(scene, 0);
	recording_writer_add_process(scene->writer, &(struct recording_process){ .pid = 78 },
				     &scene->image->row);
	put_stack(ring, 5, IN(1, 0), 0x10100);
	put_sample(ring, 77, START_NS + 10, 5, 0x10050);
	pump_all(scene, 0);
	scene->image->row = row;
	const struct content content = read_content(scene);

	assert_sample(&content, 0, "0x50 < " UNKNOWN " < 0x100");
}

static void without_an_interpreter_every_word_is_an_address(void **state)
{
	struct scene *scene = *state;

	scene->image->languages = 0;
	put_code(scene->image->ring, &run);
	put_stack(scene->image->ring, 5, IN(1, 0), 0x10100);
	put_sample(scene->image->ring, 77, START_NS + 10, 5, 0x10050);
	pump_all(scene, 0);
	const struct content content = read_content(scene);

	assert_sample(&content, 0, "0x50 < 0x8000000000100000 < 0x100");
	assert_int_equal(content.code_count, 0);
}

static void but_a_regions_is_the_region(void **state)
{
	const struct made_code load = { .key = KEY(1),
					.kind = RING_CODE_REGION,
					.name = "[region load]",
					.qualified_name = "",
					.file = "",
					.lines = "" };
	struct scene *scene = *state;

	scene->image->languages = 0;
	put_code(scene->image->ring, &load);
	put_stack(scene->image->ring, 5, IN(1, RING_NO_INSTRUCTION), 0x10100);
	put_sample(scene->image->ring, 77, START_NS + 10, 5, 0x10050);
	put_sample(scene->image->ring, 77, START_NS + 20, 5, IN(1, RING_NO_INSTRUCTION));
	pump_all(scene, 0);
	const struct content content = read_content(scene);

	assert_sample(&content, 0, "0x50 < [region load]:0 < 0x100");
	assert_sample(&content, 1, "[region load]:0 < [region load]:0 < 0x100");
	assert_int_equal(content.code_count, 1);
}

static void a_leaf_is_never_interpreted(void **state)
{
	struct scene *scene = *state;

	put_code(scene->image->ring, &run);
	put_sample(scene->image->ring, 77, START_NS + 10, 0, IN(1, 0));
	pump_all(scene, 0);
	const struct content content = read_content(scene);

	assert_sample(&content, 0, "0x8000000000100000");
}

/* No agent says any of this. */
static void records_that_make_no_sense_name_nothing(void **state)
{
	static const struct {
		const char *name;
		u64 key, kind_and_table, lengths;
		u16 count;
	} cases[] = {
		{ "no words but the header's", 0, 0, 0, 1 },
		{ "a head cut short", KEY(1), RING_CODE_PYTHON, 1, 3 },
		{ "no room for a name", KEY(1), RING_CODE_PYTHON, 1, 4 },
		{ "no name", KEY(1), RING_CODE_PYTHON, 0x5ULL << 32, 5 },
		{ "a name past the end", KEY(1), RING_CODE_PYTHON, 9, 5 },
		{ "a qualified name past it", KEY(1), RING_CODE_PYTHON, 0x80001, 5 },
		{ "a file past it", KEY(1), RING_CODE_PYTHON, 0x800000001, 5 },
		{ "a table past it", KEY(1), RING_CODE_PYTHON, 0xffff000000000001, 5 },
		{ "the longest of all", KEY(1), RING_CODE_PYTHON, UINT64_MAX, 5 },
		{ "a kind that is none", KEY(1), 0, 1, 5 },
		{ "a kind of a younger agent", KEY(1), RING_CODE_REGION + 1, 1, 5 },
		{ "a table that is none", KEY(1), RING_CODE_PYTHON | PYTHON_TABLE_COUNT << 8, 1,
		  5 },
		{ "a key that is an address", KEY(1) & ~RING_INTERPRETED, RING_CODE_PYTHON, 1,
		  5 },
		{ "a key with an instruction", KEY(1) | 1, RING_CODE_PYTHON, 1, 5 },
	};
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		put(ring, RING_CODE,
		    (const u64[]){ 0, cases[i].key, cases[i].kind_and_table, cases[i].lengths,
				   0x61 },
		    cases[i].count);
	pump_all(scene, 0);
	assert_int_equal(scene->pump.rows.epochs.young.count, 0);
	assert_int_equal(ring->tail, ring->head);
	/* The same with nothing wrong. */
	put(ring, RING_CODE, (const u64[]){ 0, KEY(1), RING_CODE_PYTHON, 1, 0x61 }, 5);
	put_stack(ring, 5, IN(1, RING_NO_INSTRUCTION), 0x10100);
	put_sample(ring, 77, START_NS + 10, 5, 0x10050);
	pump_all(scene, 0);
	const struct content content = read_content(scene);

	assert_sample(&content, 0, "0x50 < a:0 < 0x100");
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, setup, scene_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(frames_get_names_and_the_line_that_is_executed),
		SCENE(instructions_keep_their_own_lines),
		SCENE(the_same_code_twice_is_one),
		SCENE(what_python_calls_a_c_function_has_no_file_and_no_line),
		SCENE(rubys_frames_bring_their_line),
		SCENE(a_process_may_have_both_languages),
		cmocka_unit_test(what_is_unknown_is_of_the_language_that_the_process_has),
		SCENE(texts_may_be_any_bytes),
		SCENE(a_name_that_ends_before_it_begins_is_none),
		SCENE(a_code_that_comes_late_names_what_comes_after_it),
		SCENE(a_key_that_two_codes_claim_names_nothing_any_more),
		SCENE(a_key_may_be_another_codes_in_another_epoch),
		SCENE(what_was_forgotten_is_unknown_until_it_is_sent_again),
		SCENE(codes_fill_an_epoch_by_number_and_by_size),
		SCENE(the_codes_of_one_image_are_not_anothers),
		SCENE(without_an_interpreter_every_word_is_an_address),
		SCENE(but_a_regions_is_the_region),
		SCENE(a_leaf_is_never_interpreted),
		SCENE(records_that_make_no_sense_name_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
