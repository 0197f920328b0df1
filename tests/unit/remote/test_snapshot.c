/* test_snapshot - how the time of a dump is shared by its threads. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "remote/snapshot.h"

#define MS    1000000ULL
#define TOTAL (10000 * MS)

/* Of threads that all take what they may have: the least that one of them has. */
static uint64_t least_of_greedy(size_t threads)
{
	uint64_t left = TOTAL, least = TOTAL;

	for (size_t i = 0; i < threads; i++) {
		const uint64_t share = snapshot_share_ns(left, threads - i);

		assert_true(share <= left);
		left -= share;
		least = share < least ? share : least;
	}
	return least;
}

static void each_of_many_threads_has_its_time(void **state)
{
	(void)state;
	assert_true(least_of_greedy(2) >= 10 * MS);
	assert_true(least_of_greedy(200) >= 10 * MS);
	assert_true(least_of_greedy(1000) >= 10 * MS);
	assert_true(least_of_greedy(100000) >= TOTAL / 100000);
}

static void one_deep_stack_has_seconds(void **state)
{
	(void)state;
	assert_true(snapshot_share_ns(TOTAL, 1) >= 5000 * MS);
	assert_true(snapshot_share_ns(TOTAL, 200) >= 4000 * MS);
}

static void when_time_is_up_none_is_given(void **state)
{
	(void)state;
	assert_int_equal(snapshot_share_ns(0, 3), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_of_many_threads_has_its_time),
		cmocka_unit_test(one_deep_stack_has_seconds),
		cmocka_unit_test(when_time_is_up_none_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
