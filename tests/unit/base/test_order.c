#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/order.h"

#define COUNT 1000

static void assert_ordered(const struct ordered *elements, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		assert_true(elements[i - 1].key <= elements[i].key);
		if (elements[i - 1].key == elements[i].key)
			assert_true(elements[i - 1].index < elements[i].index);
	}
}

static void every_width_of_numbers_is_sorted_and_equal_ones_stay(void **state)
{
	static const unsigned unused_bits[] = { 0, 8, 20, 32, 47, 56, 63 };
	struct ordered elements[COUNT];
	(void)state;

	for (size_t k = 0; k < sizeof unused_bits / sizeof unused_bits[0]; k++) {
		uint64_t number = 0x9e3779b97f4a7c15;

		for (size_t i = 0; i < COUNT; i++) {
			number = number * 6364136223846793005 + 1442695040888963407;
			elements[i] = (struct ordered){ number >> unused_bits[k], i };
		}
		order_by_key(elements, COUNT);
		assert_ordered(elements, COUNT);
	}
}

static void all_elements_are_there_afterwards(void **state)
{
	struct ordered elements[COUNT];
	uint64_t sum = 0;
	(void)state;

	for (size_t i = 0; i < COUNT; i++)
		elements[i] = (struct ordered){ COUNT - i, i };
	order_by_key(elements, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(elements[i].key, COUNT - elements[i].index);
		sum += elements[i].index;
	}
	assert_int_equal(sum, COUNT * (COUNT - 1) / 2);
}

static void few_are_nothing_to_sort(void **state)
{
	struct ordered one = { 7, 3 };
	(void)state;

	order_by_key(NULL, 0);
	order_by_key(&one, 1);
	assert_int_equal(one.key, 7);
	assert_int_equal(one.index, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_width_of_numbers_is_sorted_and_equal_ones_stay),
		cmocka_unit_test(all_elements_are_there_afterwards),
		cmocka_unit_test(few_are_nothing_to_sort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
