/*
 * test_python_code - texts of every kind become UTF-8, and keys distinguish codes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "python_memory_image.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
static const struct {
	const char *name;
	unsigned kind;
	size_t length;
	uint32_t characters[4];
	const char *expected;
} kinds[] = {
	{ "nothing", 1, 0, { 0 }, "" },
	{ "Latin-1 in one byte", 1, 2, { 'a', 0xe9 }, "a\xc3\xa9" },
	{ "the euro sign in two",
	  2,
	  2,
	  { 0x20ac, 'x' },
	  "\xe2\x82\xac"
	  "x" },
	{ "beyond them in four",
	  4,
	  2,
	  { 0x1f40d, 0x10ffff },
	  "\xf0\x9f\x90\x8d\xf4\x8f\xbf\xbf" },
	{ "bytes that were no UTF-8", 2, 3, { 'a', 0xdcff, 0xdc80 }, "a\xff\x80" },
	{ "other lone surrogates", 2, 2, { 0xd800, 0xdc7f }, "\xef\xbf\xbd\xef\xbf\xbd" },
};

static void texts_become_utf_8(void **state)
{
	const struct python_layout layout = layout_of(PYTHON_CHAIN_SHIM);
	struct name_text text;

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct mem *mem = calloc(1, sizeof *mem);
		uint8_t data[64] = { 0 };

		for (size_t n = 0; n < kinds[i].length; n++)
			memcpy(data + n * kinds[i].kind, &kinds[i].characters[n],
			       kinds[i].kind);
		put_text(mem, TEXT(0), STATE_OF(kinds[i].kind, 0U, 2), kinds[i].length, data,
			 sizeof data);
		assert_int_equal(python_text_read(mem, &layout, TEXT(0), &text), 0);
		assert_int_equal(text.length, strlen(kinds[i].expected));
		assert_memory_equal(text.bytes, kinds[i].expected, text.length);
		assert_false(text.is_cut);
		free(mem);
	}
}

static void the_state_says_itself_where_its_kind_is(void **state)
{
	static const struct {
		uint32_t state;
		int result;
		uint8_t kind, is_ascii;
	} states[] = {
		{ STATE_OF(1U, 1U, 2), 0, 1, 1 },
		{ STATE_OF(4U, 0U, 2), 0, 4, 0 },
		{ STATE_OF(1U, 1U, 8), 0, 1, 1 },
		{ STATE_OF(2U, 0U, 8), 0, 2, 0 },
		{ STATE_OF(1U, 0U, 16), 0, 1, 0 },
		{ STATE_OF(4U, 0U, 16), 0, 4, 0 },
		{ 0, -1, 0, 0 },
		{ STATE_OF(3U, 0U, 2), -1, 0, 0 },
		{ STATE_OF(7U, 0U, 2), -1, 0, 0 },
		{ 1U << 2, -1, 0, 0 },
		{ STATE_OF(2U, 1U, 2), -1, 0, 0 },
	};
	uint8_t kind, is_ascii;

	(void)state;
	for (size_t i = 0; i < COUNT(states); i++) {
		assert_int_equal(python_shape_of_state(states[i].state, &kind, &is_ascii),
				 states[i].result);
		if (states[i].result == 0)
			assert_true(kind == states[i].kind && is_ascii == states[i].is_ascii);
	}
}

static void a_text_is_cut_where_it_must_be(void **state)
{
	const struct python_layout layout = layout_of(PYTHON_CHAIN_SHIM);
	struct mem *mem = calloc(1, sizeof *mem);
	struct name_text text;
	uint16_t wide[400];
	char ascii[1002];

	(void)state;
	memset(ascii, 'n', sizeof ascii);
	put_text(mem, TEXT(0), STATE_OF(1, 1, 2), 1000, ascii, 1000);
	assert_int_equal(python_text_read(mem, &layout, TEXT(0), &text), 0);
	assert_true(text.length == 1000 && !text.is_cut);
	put_word(mem, TEXT(0) + 16, 1001);
	assert_int_equal(python_text_read(mem, &layout, TEXT(0), &text), 0);
	assert_true(text.length == 1000 && text.is_cut);

	/* Not in the middle of a character. */
	for (size_t i = 0; i < COUNT(wide); i++)
		wide[i] = 0x20ac;
	put_text(mem, TEXT(1), STATE_OF(2, 0, 2), COUNT(wide), wide, sizeof wide);
	assert_int_equal(python_text_read(mem, &layout, TEXT(1), &text), 0);
	assert_true(text.length == 999 && text.is_cut);

	mem->gap = TEXT(0) + 40 + 500;
	assert_int_equal(python_text_read(mem, &layout, TEXT(0), &text), 0);
	assert_true(text.length == 500 && text.is_cut);
	mem->gap = TEXT(0) + 32;
	assert_true(python_text_read(mem, &layout, TEXT(0), &text) < 0);
	assert_int_equal(text.length, 0);
	assert_true(python_text_read(mem, &layout, NOWHERE, &text) < 0);
	assert_true(python_text_read(mem, &layout, 0, &text) < 0);
	free(mem);
}

static void names_of_2_7_are_bytes(void **state)
{
	struct python_layout layout = layout_of(PYTHON_CHAIN_OBJECTS);
	struct mem *mem = calloc(1, sizeof *mem);
	struct name_text text;

	(void)state;
	layout.has_unicode = 0;
	layout.offsets.bytes_data = 36;
	put_word(mem, TEXT(0) + 16, 3);
	put(mem, TEXT(0) + 36, "a\xff\x80", 3);
	assert_int_equal(python_text_read(mem, &layout, TEXT(0), &text), 0);
	assert_int_equal(text.length, 3);
	assert_memory_equal(text.bytes, "a\xff\x80", 3);
	free(mem);
}

static void make_code(struct mem *mem)
{
	put_ascii(mem, TEXT(0), "run");
	put_ascii(mem, TEXT(1), "Worker.run");
	put_ascii(mem, TEXT(2), "/srv/app.py");
	put_word(mem, TEXT(3) + 16, 20);
	put_word(mem, CODE(0) + 8, CODE_TYPE);
	put_int(mem, CODE(0) + 20, 7);
	put_word(mem, CODE(0) + 24, TEXT(2));
	put_word(mem, CODE(0) + 32, TEXT(0));
	put_word(mem, CODE(0) + 40, TEXT(1));
	put_word(mem, CODE(0) + 48, TEXT(3));
}

static uint64_t key_in(struct mem *mem)
{
	const struct python_layout layout = layout_of(PYTHON_CHAIN_SHIM);
	struct python_code parts;

	assert_int_equal(python_code_read(mem, &layout, CODE(0), &parts), 0);
	return python_code_key(mem, &layout, CODE(0), &parts);
}

static void other_name(struct mem *mem)
{
	put_ascii(mem, TEXT(0), "ran");
}

static void other_class(struct mem *mem)
{
	put_ascii(mem, TEXT(1), "Walker.run");
}

static void other_hash(struct mem *mem)
{
	put_word(mem, TEXT(1) + 24, 0x7654321);
}

static void other_file(struct mem *mem)
{
	put_ascii(mem, TEXT(2), "/srv/bpp.py");
}

static void other_line(struct mem *mem)
{
	put_int(mem, CODE(0) + 20, 8);
}

static void other_table(struct mem *mem)
{
	put_word(mem, TEXT(3) + 16, 24);
}

static void same_name_elsewhere(struct mem *mem)
{
	put_ascii(mem, TEXT(4), "run");
	put_word(mem, CODE(0) + 32, TEXT(4));
}

static void behind_a_text(struct mem *mem)
{
	put_byte(mem, TEXT(0) + 40 + 5, 'x');
}

static void reference_count(struct mem *mem)
{
	put_word(mem, CODE(0), 99);
}

static void a_key_says_what_code_is_and_not_only_where(void **state)
{
	static const struct {
		void (*change)(struct mem *mem);
		int is_other;
	} changes[] = {
		{ other_name, 1 },          { other_class, 1 },   { other_hash, 1 },
		{ other_file, 1 },          { other_line, 1 },    { other_table, 1 },
		{ same_name_elsewhere, 1 }, { behind_a_text, 0 }, { reference_count, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(changes); i++) {
		struct mem *mem = calloc(1, sizeof *mem);

		make_code(mem);
		const uint64_t key = key_in(mem);

		assert_true(key & RING_INTERPRETED);
		assert_int_equal(key & RING_NO_INSTRUCTION, 0);
		changes[i].change(mem);
		assert_int_equal(key_in(mem) != key, changes[i].is_other);
		free(mem);
	}
}

static void a_text_is_known_by_the_interpreters_hash_of_it(void **state)
{
	struct mem *mem = calloc(1, sizeof *mem);

	(void)state;
	make_code(mem);
	other_hash(mem);
	const uint64_t key = key_in(mem);

	/* Then its characters are not read. */
	other_class(mem);
	put_word(mem, TEXT(1) + 24, 0x7654322);
	assert_int_not_equal(key_in(mem), key);
	make_code(mem);
	other_hash(mem);
	mem->gap = TEXT(1) + 40;
	assert_int_equal(key_in(mem), key);
	free(mem);
}

static void code_that_cannot_be_read_has_no_key(void **state)
{
	const struct python_layout layout = layout_of(PYTHON_CHAIN_SHIM);
	struct mem *mem = calloc(1, sizeof *mem);
	struct python_code parts;

	(void)state;
	make_code(mem);
	mem->gap = CODE(0) + 40;
	assert_true(python_code_read(mem, &layout, CODE(0), &parts) < 0);
	mem->gap = 0;
	/* Texts that cannot be read are known by their addresses. */
	put_word(mem, CODE(0) + 32, NOWHERE);
	const uint64_t key = key_in(mem);

	put_word(mem, CODE(0) + 32, NOWHERE + 8);
	assert_int_not_equal(key_in(mem), key);
	free(mem);
}

static void an_instruction_that_does_not_fit_is_none(void **state)
{
	const uint64_t key = RING_INTERPRETED | 1ULL << RING_INSTRUCTION_BITS;

	(void)state;
	assert_int_equal(code_word(key, 0), key);
	assert_int_equal(code_word(key, 0xffffe), key | 0xffffe);
	assert_int_equal(code_word(key, 0x100000), key | RING_NO_INSTRUCTION);
	assert_int_equal(code_word(key, CODE_NO_INSTRUCTION), key | RING_NO_INSTRUCTION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_become_utf_8),
		cmocka_unit_test(the_state_says_itself_where_its_kind_is),
		cmocka_unit_test(a_text_is_cut_where_it_must_be),
		cmocka_unit_test(names_of_2_7_are_bytes),
		cmocka_unit_test(a_key_says_what_code_is_and_not_only_where),
		cmocka_unit_test(a_text_is_known_by_the_interpreters_hash_of_it),
		cmocka_unit_test(code_that_cannot_be_read_has_no_key),
		cmocka_unit_test(an_instruction_that_does_not_fit_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
