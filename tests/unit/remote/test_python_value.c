/* Python's objects as text, in a memory made by hand: CPython 3.11's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "abi/python_layout.h"
#include "base/text.h"
#include "pages.h"
#include "remote/python_value.h"

#define TYPE_NAME 24
#define FLAGS     168

struct fixture {
	struct mem mem;
	struct pages *pages;
	struct python_layout layout;
	uint64_t next;
	struct text out;
};

static uint64_t take(struct fixture *f, uint64_t size)
{
	const uint64_t at = f->next;

	f->next += (size + 15) & ~15ULL;
	return at;
}

static uint64_t make_type(struct fixture *f, const char *name, uint64_t flags)
{
	const uint64_t type = take(f, 400), text = take(f, 32);

	pages_put(f->pages, text, name, strlen(name) + 1);
	pages_put_word(f->pages, type + TYPE_NAME, text);
	pages_put_word(f->pages, type + FLAGS, flags);
	return type;
}

static uint64_t make(struct fixture *f, uint64_t type, const uint64_t *words, size_t count)
{
	const uint64_t object = take(f, 16 + count * 8);

	pages_put_word(f->pages, object + 8, type);
	for (size_t i = 0; i < count; i++)
		pages_put_word(f->pages, object + 16 + i * 8, words[i]);
	return object;
}

static void begin(struct fixture *f)
{
	*f = (struct fixture){ .next = PAGES_BEGIN + 0x100 };
	f->pages = pages_new(&f->mem);
	f->layout = (struct python_layout){ .version = 0x030b02f0, .has_unicode = 1 };
	f->layout.offsets.object_type = 8;
	f->layout.offsets.type_name = TYPE_NAME;
	f->layout.offsets.bytes_length = 16;
	f->layout.offsets.bytes_data = 32;
}

static void end(struct fixture *f)
{
	text_done(&f->out);
	memory_done(&f->mem);
	free(f->pages);
}

static const char *shown(struct fixture *f, uint64_t object)
{
	text_clear(&f->out);
	memory_forget(&f->mem);
	python_value_add(&f->mem, &f->layout, object, &f->out);
	return text_string(&f->out);
}

static void ints_have_their_sign_and_all_digits(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	const uint64_t type = make_type(&f, "int", 1ULL << 24);
	const uint64_t zero[] = { 0, 0 };
	const uint64_t minus_seven[] = { (uint64_t)-1, 7 };
	/* Two digits of 30 bits. */
	const uint64_t two[] = { 2, 1ULL << 32 | 5 };
	const uint64_t far_too_long[] = { 1ULL << 40, 0 };

	assert_string_equal(shown(&f, make(&f, type, zero, 2)), "0");
	assert_string_equal(shown(&f, make(&f, type, minus_seven, 2)), "-7");
	assert_string_equal(shown(&f, make(&f, type, two, 2)), "1073741829");
	assert_non_null(strstr(shown(&f, make(&f, type, far_too_long, 2)), "<int of "));
	f.layout.version = 0x030c00f0;
	const uint64_t tagged[] = { 1 << 3 | 2, 9 };

	assert_string_equal(shown(&f, make(&f, type, tagged, 2)), "-9");
	end(&f);
}

static void floats_have_as_few_digits_as_python_gives_them(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = { { 0.1, "0.1" },
		      { 3.0, "3.0" },
		      { 1e300, "1e+300" },
		      { 2.0 / 3, "0.6666666666666666" } };
	struct fixture f;
	uint64_t word;

	(void)state;
	begin(&f);
	const uint64_t type = make_type(&f, "float", 0);

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		memcpy(&word, &cases[i].value, sizeof word);
		assert_string_equal(shown(&f, make(&f, type, &word, 1)), cases[i].text);
	}
	end(&f);
}

static void circles_and_long_lists_end(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	const uint64_t type = make_type(&f, "list", 1ULL << 25);
	const uint64_t items = take(&f, 8 * 100);
	const uint64_t words[] = { 1, items };
	const uint64_t list = make(&f, type, words, 2);

	pages_put_word(f.pages, items, list);
	assert_int_equal(strncmp(shown(&f, list), "[[[<list at 0x", 14), 0);
	pages_put_word(f.pages, list + 16, UINT64_MAX);
	for (uint64_t i = 0; i < 100; i++)
		pages_put_word(f.pages, items + 8 * i, list);
	assert_true(strlen(shown(&f, list)) < 2000);
	end(&f);
}

static void what_is_torn_is_unreadable_and_what_is_unknown_has_its_type(void **state)
{
	struct fixture f;
	char expected[64];

	(void)state;
	begin(&f);
	const uint64_t list = make_type(&f, "list", 1ULL << 25);
	const uint64_t words[] = { 2, NOWHERE };
	const uint64_t other = make(&f, make_type(&f, "Thing", 0), NULL, 0);

	assert_string_equal(shown(&f, NOWHERE), "<unreadable at 0xdead0000>");
	assert_string_equal(shown(&f, 0), "<unreadable at 0x0>");
	assert_string_equal(shown(&f, make(&f, list, words, 2)), "[<unreadable>]");
	assert_non_null(strstr(shown(&f, make(&f, NOWHERE, NULL, 0)), "<unreadable at"));
	snprintf(expected, sizeof expected, "<Thing at 0x%llx>", (unsigned long long)other);
	assert_string_equal(shown(&f, other), expected);
	end(&f);
}

static void bytes_and_singletons(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	const uint64_t bytes[] = { 3, 0, 0x006127ULL | 0xff0000 };
	const uint64_t one[] = { 1, 1 }, none[] = { 0, 0 };
	const uint64_t type = make_type(&f, "bool", 1ULL << 24);

	assert_string_equal(shown(&f, make(&f, make_type(&f, "bytes", 1ULL << 27), bytes, 3)),
			    "b'\\x27a\\xff'");
	assert_string_equal(shown(&f, make(&f, type, one, 2)), "True");
	assert_string_equal(shown(&f, make(&f, type, none, 2)), "False");
	assert_string_equal(shown(&f, make(&f, make_type(&f, "NoneType", 0), NULL, 0)), "None");
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ints_have_their_sign_and_all_digits),
		cmocka_unit_test(floats_have_as_few_digits_as_python_gives_them),
		cmocka_unit_test(circles_and_long_lists_end),
		cmocka_unit_test(what_is_torn_is_unreadable_and_what_is_unknown_has_its_type),
		cmocka_unit_test(bytes_and_singletons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
