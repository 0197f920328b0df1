/* Ticks of the wall clock fall evenly into whatever a program repeats, also once in each tick. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h expects those before it. */
#include <cmocka.h>

#include "collect/wall/ticks.h"

#define TICK_NS 10000000ULL
#define TICKS   400
#define RANDOM  20140817

/* How many of them fall into the first half of periods of that length. */
static unsigned int first_halves(uint64_t cycle_ns)
{
	struct wall_ticks ticks;
	uint64_t now_ns = 5000 * TICK_NS;
	unsigned int count = 0;

	wall_ticks_begin(&ticks, TICK_NS, now_ns, RANDOM);
	for (int i = 0; i < TICKS; i++) {
		now_ns = wall_ticks_next(&ticks, 1, now_ns);
		count += now_ns % cycle_ns < cycle_ns / 2;
	}
	return count;
}

static void no_period_is_in_step_with_them(void **state)
{
	unsigned int off = 0, cycles = 0;

	(void)state;
	for (uint64_t cycle_ns = TICK_NS / 4; cycle_ns <= 3 * TICK_NS;
	     cycle_ns += TICK_NS / 2000) {
		const unsigned int count = first_halves(cycle_ns);

		/*
		 * Of 400 at random 200 +- 10 are.  Regular ticks are all in the same half of some
		 * cycles; with places by the golden ratio all are in that of 5.67 ms, 320 of 26.2.
		 */
		assert_in_range(count, TICKS / 2 - 45, TICKS / 2 + 45);
		off += count > TICKS / 2 ? count - TICKS / 2 : TICKS / 2 - count;
		cycles++;
	}
	/* At random they would be off by 8 on average. */
	assert_true(off < 9 * cycles);
}

static void they_are_a_period_apart_on_average(void **state)
{
	struct wall_ticks ticks;
	uint64_t now_ns = 7, due_ns;

	(void)state;
	wall_ticks_begin(&ticks, TICK_NS, now_ns, RANDOM);
	for (int i = 0; i < TICKS; i++) {
		due_ns = wall_ticks_next(&ticks, 1, now_ns);
		assert_in_range(due_ns - now_ns, TICK_NS / 2, 3 * TICK_NS / 2);
		now_ns = due_ns;
	}
	/* The standard deviation of a distance is 0.29 periods, that of 400 is 5.8. */
	assert_in_range(now_ns, (TICKS - 18) * TICK_NS, (TICKS + 18) * TICK_NS);
	due_ns = wall_ticks_next(&ticks, 5, now_ns);
	assert_in_range(due_ns - now_ns, 9 * TICK_NS / 2, 11 * TICK_NS / 2);
}

static void one_that_was_late_is_followed_by_none_at_once(void **state)
{
	struct wall_ticks ticks;
	uint64_t due_ns, late_ns = 1000 * TICK_NS;

	(void)state;
	wall_ticks_begin(&ticks, TICK_NS, late_ns, RANDOM);
	for (int i = 0; i < TICKS; i++) {
		due_ns = wall_ticks_next(&ticks, 1, late_ns);
		assert_in_range(due_ns, late_ns + TICK_NS / 8, late_ns + 2 * TICK_NS);
		late_ns = due_ns + 7 * TICK_NS / 10;
	}
	/* Ticks that were missed altogether are not made up for. */
	late_ns += 9000 * TICK_NS;
	due_ns = wall_ticks_next(&ticks, 1, late_ns);
	assert_in_range(due_ns, late_ns + TICK_NS / 2, late_ns + 2 * TICK_NS);
	late_ns = due_ns;
	assert_in_range(wall_ticks_next(&ticks, 1, late_ns), late_ns + TICK_NS / 2,
			late_ns + 2 * TICK_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_period_is_in_step_with_them),
		cmocka_unit_test(they_are_a_period_apart_on_average),
		cmocka_unit_test(one_that_was_late_is_followed_by_none_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
