#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/bytes.h"

static void numbers_are_little_endian(void **state)
{
	static const uint8_t data[] = { 0x01, 0x02, 0x01, 0x04, 0x03, 0x02, 0x01, 0x08,
					0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0xf1 };
	struct bytes b = bytes_of(data, sizeof data);

	(void)state;
	assert_int_equal(bytes_u8(&b), 1);
	assert_int_equal(bytes_u16(&b), 0x102);
	assert_int_equal(bytes_u32(&b), 0x1020304);
	assert_int_equal(bytes_u64(&b), 0xf102030405060708ULL);
	assert_int_equal(bytes_left(&b), 0);
	assert_false(b.short_read);
}

static void a_read_past_the_end_gives_0_and_is_remembered(void **state)
{
	static const uint8_t data[] = { 1, 2, 3 };
	struct bytes b = bytes_of(data, sizeof data);

	(void)state;
	assert_int_equal(bytes_u32(&b), 0);
	assert_true(b.short_read);
	assert_int_equal(bytes_u8(&b), 0);
	assert_int_equal(bytes_left(&b), 0);
}

static void no_bytes_are_enough_for_nothing(void **state)
{
	struct bytes b = bytes_of(NULL, 0);

	(void)state;
	bytes_take(&b, 0);
	assert_false(b.short_read);
	assert_null(bytes_string(&b));
	assert_true(b.short_read);
	b = bytes_of(NULL, 0);
	assert_int_equal(bytes_varint(&b), 0);
	assert_true(b.short_read);
	b = bytes_of("x", 1);
	assert_null(bytes_take(&b, SIZE_MAX));
	assert_true(b.short_read);
}

static const struct {
	const char *name, *bytes;
	size_t len;
	uint64_t value;
} varints[] = {
	{ "zero takes one byte", "\0", 1, 0 },
	{ "127 still fits one", "\177", 1, 127 },
	{ "128 needs two", "\200\001", 2, 128 },
	{ "the example of the DWARF standard", "\345\216\046", 3, 624485 },
	{ "padding is allowed", "\201\200\000", 3, 1 },
	{ "the largest needs ten", "\377\377\377\377\377\377\377\377\377\001", 10, UINT64_MAX },
};

static void varints_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof varints / sizeof *varints; i++) {
		struct bytes b = bytes_of(varints[i].bytes, varints[i].len);

		print_message("%s\n", varints[i].name);
		assert_int_equal(bytes_varint(&b), varints[i].value);
		assert_false(b.short_read);
		assert_int_equal(bytes_left(&b), 0);
	}
}

static const struct {
	const char *name, *bytes;
	size_t len;
	int64_t value;
} svarints[] = {
	{ "zero", "\0", 1, 0 },
	{ "63 still fits one byte", "\077", 1, 63 },
	{ "64 needs two, for the sign", "\300\000", 2, 64 },
	{ "-1 is all ones", "\177", 1, -1 },
	{ "-64 still fits one", "\100", 1, -64 },
	{ "the example of the DWARF standard", "\300\273\170", 3, -123456 },
	{ "the largest", "\377\377\377\377\377\377\377\377\377\000", 10, INT64_MAX },
	{ "the smallest", "\200\200\200\200\200\200\200\200\200\177", 10, INT64_MIN },
};

static void signed_varints_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof svarints / sizeof *svarints; i++) {
		struct bytes b = bytes_of(svarints[i].bytes, svarints[i].len);

		print_message("%s\n", svarints[i].name);
		assert_int_equal(bytes_svarint(&b), svarints[i].value);
		assert_false(b.short_read);
		assert_int_equal(bytes_left(&b), 0);
	}
}

static const struct {
	const char *name, *bytes;
	size_t len;
} damaged[] = {
	{ "an end within a number", "\200", 1 },
	{ "more than ten groups", "\200\200\200\200\200\200\200\200\200\200\001", 11 },
	{ "a tenth group with more than 64 bits", "\377\377\377\377\377\377\377\377\377\002",
	  10 },
};

static void a_damaged_varint_is_a_short_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
		struct bytes b = bytes_of(damaged[i].bytes, damaged[i].len);

		print_message("%s\n", damaged[i].name);
		assert_int_equal(bytes_varint(&b), 0);
		assert_true(b.short_read);
		assert_int_equal(bytes_left(&b), 0);
		b = bytes_of(damaged[i].bytes, damaged[i].len);
		assert_int_equal(bytes_svarint(&b), 0);
		assert_true(b.short_read);
	}
}

static void strings_and_blocks_are_read_in_place(void **state)
{
	static const char data[] = "one\0\0two"; /* and the NUL of the literal */
	struct bytes b = bytes_of(data, sizeof data);

	(void)state;
	assert_ptr_equal(bytes_string(&b), data);
	assert_string_equal(bytes_string(&b), "");
	assert_ptr_equal(bytes_take(&b, 1), data + 5);
	assert_string_equal(bytes_string(&b), "wo");
	assert_false(b.short_read);
	b = bytes_of(data, 3);
	assert_null(bytes_string(&b));
	assert_true(b.short_read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_little_endian),
		cmocka_unit_test(a_read_past_the_end_gives_0_and_is_remembered),
		cmocka_unit_test(no_bytes_are_enough_for_nothing),
		cmocka_unit_test(varints_are_read),
		cmocka_unit_test(signed_varints_are_read),
		cmocka_unit_test(a_damaged_varint_is_a_short_read),
		cmocka_unit_test(strings_and_blocks_are_read_in_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
