/*
 * test_python_thread - a thread's name is found wherever a version keeps attributes, and nowhere
 * else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "python_memory_image.h"
#include "walk/python_thread.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define SELF   (MEMORY + 0x24000)
#define CLASS  (MEMORY + 0x25000)
#define DICT   (MEMORY + 0x26000)
#define KEYS   (MEMORY + 0x27000)
#define VALUES (MEMORY + 0x28000)
#define LOCALS 80
#define SIZE   64 /* of an instance */

enum { FUNCTION, TARGET, NAME, TARGET_VALUE, NAME_VALUE };

/* 2.7's str. */
static void put_bytes(struct mem *mem, uint64_t text, const char *data)
{
	put_word(mem, text + 16, strlen(data));
	put(mem, text + 32, data, strlen(data) + 1);
}

/* dk_size of 8: indices of a byte each; entries of {hash, key, value}. */
static void put_old_keys(struct mem *mem, const uint64_t *values)
{
	put_word(mem, KEYS + 8, 8);
	put_word(mem, KEYS + 32, 2);
	for (unsigned i = 0; i < 2; i++) {
		put_word(mem, KEYS + 48 + i * 24 + 8, TEXT(TARGET + i));
		put_word(mem, KEYS + 48 + i * 24 + 16, values != NULL ? values[i] : NOWHERE);
	}
}

/* Indices of two to the fourth bytes; a kind of 0 has hashes in its entries. */
static void put_new_keys(struct mem *mem, uint8_t kind, const uint64_t *values)
{
	const unsigned entry = kind == 0 ? 24 : 16, key = kind == 0 ? 8 : 0;

	put_byte(mem, KEYS + 8, 3);
	put_byte(mem, KEYS + 9, 4);
	put_byte(mem, KEYS + 10, kind);
	put_word(mem, KEYS + 24, 2);
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t at = KEYS + 32 + 16 + i * entry + key;

		put_word(mem, at, TEXT(TARGET + i));
		put_word(mem, at + 8, values != NULL ? values[i] : NOWHERE);
	}
}

static void put_dict(struct mem *mem, uint64_t values)
{
	put_word(mem, DICT + 32, KEYS);
	put_word(mem, DICT + 40, values);
}

static const uint64_t both[] = { TEXT(TARGET_VALUE), TEXT(NAME_VALUE) };

static void a_table(struct mem *mem)
{
	put_word(mem, CLASS + 288, 16);
	put_word(mem, SELF + 16, DICT);
	put_word(mem, DICT + 32, 7);
	put_word(mem, DICT + 40, VALUES + 0x100);
	put_bytes(mem, TEXT(FUNCTION), "__bootstrap");
	put_bytes(mem, TEXT(TARGET), "_Thread__target");
	put_bytes(mem, TEXT(NAME), "_Thread__name");
	put_bytes(mem, TEXT(NAME_VALUE), "worker");
	for (unsigned i = 0; i < 2; i++) {
		put_word(mem, VALUES + 0x100 + (2 + 3 * i) * 24 + 8, TEXT(TARGET + i));
		put_word(mem, VALUES + 0x100 + (2 + 3 * i) * 24 + 16, both[i]);
	}
}

static void a_dict(struct mem *mem)
{
	put_word(mem, CLASS + 288, 16);
	put_word(mem, SELF + 16, DICT);
	put_dict(mem, 0);
	put_old_keys(mem, both);
}

static void a_dict_with_shared_keys(struct mem *mem)
{
	put_word(mem, CLASS + 288, 16);
	put_word(mem, SELF + 16, DICT);
	put_dict(mem, VALUES);
	put_old_keys(mem, NULL);
}

static void values_before_it(struct mem *mem)
{
	put_word(mem, SELF - 32, VALUES);
	put_new_keys(mem, 2, NULL);
}

static void a_dict_before_it(struct mem *mem)
{
	put_word(mem, SELF - 32, 0);
	put_word(mem, SELF - 24, DICT);
	put_dict(mem, 0);
	put_new_keys(mem, 0, both);
}

static void tagged_values(struct mem *mem)
{
	put_word(mem, SELF - 24, VALUES - 1);
	put_new_keys(mem, 2, NULL);
}

static void an_untagged_dict(struct mem *mem)
{
	put_word(mem, SELF - 24, DICT);
	put_dict(mem, 0);
	put_new_keys(mem, 1, both);
}

static void inline_values(struct mem *mem)
{
	put_byte(mem, SELF + SIZE + 3, 1);
	put(mem, SELF + SIZE + 8, both, sizeof both);
	put_new_keys(mem, 2, NULL);
}

static void inline_values_that_moved_to_a_dict(struct mem *mem)
{
	put_byte(mem, SELF + SIZE + 3, 0);
	put(mem, SELF + SIZE + 8, (uint64_t[]){ NOWHERE, NOWHERE }, 16);
	put_word(mem, SELF - 24, DICT);
	put_dict(mem, 0);
	put_new_keys(mem, 1, both);
}

static const struct {
	const char *name;
	enum python_attributes attributes;
	void (*put)(struct mem *mem);
} homes[] = {
	{ "2.7: a table", PYTHON_ATTRIBUTES_TABLE, a_table },
	{ "3.6: a dictionary", PYTHON_ATTRIBUTES_DICT, a_dict },
	{ "3.6: one that shares its keys", PYTHON_ATTRIBUTES_DICT, a_dict_with_shared_keys },
	{ "3.11: values before it", PYTHON_ATTRIBUTES_BEFORE, values_before_it },
	{ "3.11: a dictionary before it", PYTHON_ATTRIBUTES_BEFORE, a_dict_before_it },
	{ "3.12: values, by a tag", PYTHON_ATTRIBUTES_TAGGED, tagged_values },
	{ "3.12: a dictionary, without", PYTHON_ATTRIBUTES_TAGGED, an_untagged_dict },
	{ "3.13: values in it", PYTHON_ATTRIBUTES_INLINE, inline_values },
	{ "3.13: values that left it", PYTHON_ATTRIBUTES_INLINE,
	  inline_values_that_moved_to_a_dict },
};

static struct mem *memory_with(size_t home, struct python_layout *out_layout)
{
	struct mem *mem = calloc(1, sizeof *mem);

	*out_layout = layout_of(PYTHON_CHAIN_SHIM);
	out_layout->attributes = (u8)homes[home].attributes;
	out_layout->offsets.frame_locals = LOCALS;
	out_layout->offsets.type_keys = 800;
	put_ascii(mem, TEXT(FUNCTION), "_bootstrap");
	put_ascii(mem, TEXT(TARGET), "_target");
	put_ascii(mem, TEXT(NAME), "_name");
	put_ascii(mem, TEXT(TARGET_VALUE), "no name");
	put_ascii(mem, TEXT(NAME_VALUE), "worker");
	put_word(mem, CODE(0) + 32, TEXT(FUNCTION));
	put_word(mem, FRAME(0) + LOCALS, SELF);
	put_word(mem, SELF + 8, CLASS);
	put_word(mem, CLASS + 32, SIZE);
	put_word(mem, CLASS + 800, KEYS);
	put(mem, VALUES, both, sizeof both);
	homes[home].put(mem);
	out_layout->has_unicode = homes[home].attributes != PYTHON_ATTRIBUTES_TABLE;
	return mem;
}

static const struct python_frame outermost = { .address = FRAME(0), .code = CODE(0) };

static void the_name_is_found_wherever_a_version_keeps_attributes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(homes); i++) {
		struct python_layout layout;
		struct mem *mem = memory_with(i, &layout);
		struct name_text name;

		printf("  %s\n", homes[i].name);
		assert_int_equal(python_thread_name(mem, &layout, &outermost, &name), 0);
		assert_int_equal(name.length, strlen("worker"));
		assert_memory_equal(name.bytes, "worker", name.length);
		free(mem);
	}
}

/* One character of a text is another: the first stands where its length says. */
static void change(struct mem *mem, uint64_t text)
{
	put_byte(mem, text + 32 + 4, mem->bytes[text + 32 + 4 - MEMORY] ^ 1);
	put_byte(mem, text + 40 + 4, mem->bytes[text + 40 + 4 - MEMORY] ^ 1);
}

static void no_frame(struct mem *mem)
{
	change(mem, TEXT(FUNCTION));
}

static void no_object(struct mem *mem)
{
	put_word(mem, FRAME(0) + LOCALS, 0);
}

static void an_object_nowhere(struct mem *mem)
{
	put_word(mem, FRAME(0) + LOCALS, NOWHERE);
}

static void no_such_attribute(struct mem *mem)
{
	change(mem, TEXT(NAME));
}

static void an_empty_name(struct mem *mem)
{
	put_word(mem, TEXT(NAME_VALUE) + 16, 0);
}

static void keys_without_end(struct mem *mem)
{
	change(mem, TEXT(NAME));
	put_word(mem, KEYS + 24, UINT64_MAX);
	put_word(mem, KEYS + 32, UINT64_MAX);
}

static const struct {
	const char *name;
	void (*spoil)(struct mem *mem);
} spoilt[] = {
	{ "another function's frame", no_frame },
	{ "a local variable that is not set", no_object },
	{ "one that points nowhere", an_object_nowhere },
	{ "an object without the attribute", no_such_attribute },
	{ "an empty name", an_empty_name },
	{ "more keys than there is memory", keys_without_end },
};

static void what_has_no_name_is_given_none(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(spoilt); i++) {
		for (size_t home = 0; home < COUNT(homes); home++) {
			struct python_layout layout;
			struct mem *mem = memory_with(home, &layout);
			struct name_text name;

			printf("  %s, %s\n", spoilt[i].name, homes[home].name);
			spoilt[i].spoil(mem);
			assert_true(python_thread_name(mem, &layout, &outermost, &name) < 0);
			free(mem);
		}
	}
}

static void a_version_whose_attributes_are_not_read_has_none(void **state)
{
	struct python_layout layout;
	struct mem *mem = memory_with(0, &layout);
	struct name_text name;

	(void)state;
	layout.attributes = PYTHON_ATTRIBUTES_UNREAD;
	assert_true(python_thread_name(mem, &layout, &outermost, &name) < 0);
	free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_name_is_found_wherever_a_version_keeps_attributes),
		cmocka_unit_test(what_has_no_name_is_given_none),
		cmocka_unit_test(a_version_whose_attributes_are_not_read_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
