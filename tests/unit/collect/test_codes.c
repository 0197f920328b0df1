/* Functions of interpreted programs: what a hostile ring may say of them, and for how long. */
#include "scene.h"

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
#include "collect/image.h"
#include "record/reader.h"
#include "record/writer.h"

#define PYTHON          (1U << RECORDING_LANGUAGE_PYTHON)
#define RUBY            (1U << RECORDING_LANGUAGE_RUBY)
#define KEY(n)          (RING_INTERPRETED | (u64)(n) << RING_INSTRUCTION_BITS)
#define IN(n, position) (KEY(n) | (position))

struct made_code {
	u64 key;
	u8 kind, table;
	u32 first_line;
	const char *name, *qualified_name, *file, *lines;
};

/* From the fifth byte on, the second line of the function. */
#define TWO_LINES "\4\1"

static const struct made_code run = {
	KEY(1), RING_CODE_PYTHON, PYTHON_TABLE_LNOTAB, 30, "run", "A.run", "/a.py", TWO_LINES
};
static const struct made_code walk = { KEY(2),  RING_CODE_PYTHON, PYTHON_TABLE_LNOTAB,
				       70,      "walk",           "B.walk",
				       "/b.py", TWO_LINES };

static u16 add_text(char *bytes, size_t *len, const char *text)
{
	const size_t text_len = strlen(text);

	memcpy(bytes + *len, text, text_len);
	*len += text_len;
	return (u16)text_len;
}

static void put_code(struct ring_header *ring, const struct made_code *code)
{
	u64 words[64] = { 0 };
	char *bytes = (char *)(words + RING_WORDS(struct ring_code));
	struct ring_code head = { .key = code->key,
				  .kind = code->kind,
				  .table = code->table,
				  .first_line = code->first_line };
	size_t len = 0;

	head.name_length = add_text(bytes, &len, code->name);
	head.qualified_length = add_text(bytes, &len, code->qualified_name);
	head.file_length = add_text(bytes, &len, code->file);
	head.table_length = add_text(bytes, &len, code->lines);
	memcpy(words, &head, sizeof head);
	put(ring, RING_CODE, words,
	    (u16)(RING_WORDS(struct ring_code) + (len + sizeof(u64) - 1) / sizeof(u64)));
}

static int setup(void **state)
{
	const int rc = scene_setup(state);
	struct scene *scene = *state;

	scene->image->languages = PYTHON;
	place(scene, 0x10000, 0x20000, "/made", 0);
	return rc;
}

/* What is in a recording, as tables by id. */
struct content {
	struct recording_stack stacks[64];
	struct recording_frame frames[64];
	enum module_kind kinds[8];
	char module_paths[8][32];
	char codes[32][64], paths[32][32]; /* of codes: "A.run", or the name if that is all */
	uint32_t languages[32], first_lines[32], code_count;
	uint32_t samples[16], endings[16], sample_count;
};

static int take_stack(void *context, const struct recording_stack *row)
{
	assert_in_range(row->id, 1, 63);
	((struct content *)context)->stacks[row->id] = *row;
	return 0;
}

static int take_frame(void *context, const struct recording_frame *row)
{
	assert_in_range(row->id, 1, 63);
	((struct content *)context)->frames[row->id] = *row;
	return 0;
}

static int take_module(void *context, const struct recording_module *row)
{
	assert_in_range(row->id, 1, 7);
	struct content *content = context;

	content->kinds[row->id] = row->kind;
	snprintf(content->module_paths[row->id], sizeof content->module_paths[0], "%s",
		 row->path);
	return 0;
}

static int take_code(void *context, const struct recording_code *row)
{
	struct content *content = context;

	assert_in_range(row->id, 1, 31);
	content->languages[row->id] = row->language;
	snprintf(content->codes[row->id], sizeof content->codes[0], "%s",
		 row->qualified_name != NULL ? row->qualified_name : row->name);
	snprintf(content->paths[row->id], sizeof content->paths[0], "%s",
		 row->file != NULL ? row->file : "no file");
	content->first_lines[row->id] = row->line;
	content->code_count++;
	return 0;
}

static int take_sample(void *context, const struct recording_sample *row)
{
	struct content *content = context;

	assert_in_range(content->sample_count, 0, 15);
	content->endings[content->sample_count] = row->ending;
	content->samples[content->sample_count++] = row->stack;
	return 0;
}

static struct content read_content(struct scene *scene)
{
	struct content content = { .code_count = 0 };
	struct recording_reader *reader;
	struct error err;

	must(recording_writer_commit(scene->writer), &err);
	must(recording_reader_open(scene->path, &reader, &err), &err);
	must(recording_reader_each_module(reader, take_module, &content, &err), &err);
	must(recording_reader_each_frame(reader, take_frame, &content, &err), &err);
	must(recording_reader_each_stack(reader, take_stack, &content, &err), &err);
	must(recording_reader_each_code(reader, take_code, &content, &err), &err);
	must(recording_reader_each_sample(reader, take_sample, &content, &err), &err);
	recording_reader_close(reader);
	return content;
}

/* "0x50 < A.run:31 < 0x100": the sample's frames, callers behind. */
static void assert_sample(const struct content *content, uint32_t sample, const char *due)
{
	struct text is = { 0 };

	assert_in_range(sample, 0, content->sample_count - 1);
	for (uint32_t stack = content->samples[sample]; stack != 0;
	     stack = content->stacks[stack].parent) {
		const struct recording_frame *frame =
			&content->frames[content->stacks[stack].frame];

		if (is.len > 0)
			text_add(&is, " < ");
		if (content->kinds[frame->module] == MODULE_KIND_INTERPRETED)
			text_addf(&is, "%s:%u", content->codes[frame->address >> 32],
				  (unsigned)(uint32_t)frame->address);
		else
			text_addf(&is, "0x%llx", (unsigned long long)frame->address);
	}
	assert_string_equal(text_string(&is), due);
	text_done(&is);
}

/* The path of the module that its frames are in. */
static const char *module_of_code(const struct content *content, uint32_t code)
{
	for (size_t i = 1; i < 64; i++) {
		const struct recording_frame *frame = &content->frames[i];

		if (content->kinds[frame->module] == MODULE_KIND_INTERPRETED &&
		    frame->address >> 32 == code)
			return content->module_paths[frame->module];
	}
	return "none";
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
	scene->pump.epochs.limit = 1;
	put_code(ring, &run);
	put_stack(ring, 5, IN(1, 0), 0x10100);
	put_stack(ring, 7, IN(1, 0), 0x10300);
	next_round(scene);
	next_round(scene);
	assert_int_equal(scene->pump.epochs.number, 1);
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

	scene->pump.epochs.limit = 1;
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

	scene->pump.epochs.limit_bytes = 1000;
	for (u32 i = 0; i < 200; i++) {
		code.key = KEY(i + 1);
		put_code(scene->image->ring, &code);
		next_round(scene);
		assert_in_range(scene->pump.epochs.young.bytes, 0, 1100);
		assert_in_range(scene->pump.epochs.old.bytes, 0, 1100);
	}
	assert_in_range(scene->pump.epochs.number, 5, 100);
	scene->pump.epochs.limit_bytes = 1U << 30;
	scene->pump.epochs.limit = 1;
	const uint32_t number = scene->pump.epochs.number;

	put_code(scene->image->ring, &run);
	next_round(scene);
	next_round(scene);
	assert_in_range(scene->pump.epochs.number, number + 1, number + 2);
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
		{ "a kind of a younger agent", KEY(1), RING_CODE_RUBY_BUILTIN + 1, 1, 5 },
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
	assert_int_equal(scene->pump.epochs.young.count, 0);
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
		SCENE(a_leaf_is_never_interpreted),
		SCENE(records_that_make_no_sense_name_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
