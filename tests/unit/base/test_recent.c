#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/recent.h"

static void a_value_stays_where_it_was_put(void **state)
{
	struct recent recent = { .limit = 4 };
	bool is_new;
	(void)state;

	*recent_at(&recent, 1, 2, &is_new) = 7;
	assert_true(is_new);
	assert_int_equal(*recent_at(&recent, 1, 2, &is_new), 7);
	assert_false(is_new);
	recent_done(&recent);
}

static void what_is_asked_for_is_not_forgotten(void **state)
{
	struct recent recent = { .limit = 4 };
	bool is_new;
	(void)state;

	*recent_at(&recent, 0, 1, NULL) = 7;
	for (uint64_t other = 100; other < 200; other++) {
		recent_at(&recent, 0, other, &is_new);
		assert_true(is_new);
		assert_int_equal(*recent_at(&recent, 0, 1, &is_new), 7);
		assert_false(is_new);
	}
	recent_done(&recent);
}

static void what_is_not_asked_for_is_forgotten(void **state)
{
	struct recent recent = { .limit = 4 };
	bool is_new;
	(void)state;

	*recent_at(&recent, 0, 1, NULL) = 7;
	for (uint64_t other = 100; other < 108; other++)
		recent_at(&recent, 0, other, NULL);
	assert_int_equal(*recent_at(&recent, 0, 1, &is_new), 0);
	assert_true(is_new);
	recent_done(&recent);
}

static void memory_is_bounded(void **state)
{
	struct recent recent = { .limit = 12 };
	(void)state;

	for (uint64_t key = 0; key < 100000; key++) {
		recent_at(&recent, key, key, NULL);
		assert_in_range(recent.young.count, 1, 12);
		assert_in_range(recent.young.capacity, 1, 16);
		assert_in_range(recent.old.capacity, 0, 16);
	}
	recent_done(&recent);
}

static void without_a_limit_nothing_is_forgotten(void **state)
{
	struct recent recent = { 0 };
	bool is_new;
	(void)state;

	for (uint64_t key = 0; key < 10000; key++)
		*recent_at(&recent, 0, key, NULL) = key;
	for (uint64_t key = 0; key < 10000; key++) {
		assert_int_equal(*recent_at(&recent, 0, key, &is_new), key);
		assert_false(is_new);
	}
	recent_done(&recent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_stays_where_it_was_put),
		cmocka_unit_test(what_is_asked_for_is_not_forgotten),
		cmocka_unit_test(what_is_not_asked_for_is_forgotten),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(without_a_limit_nothing_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
