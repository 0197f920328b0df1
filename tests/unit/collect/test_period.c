#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/events/perf_events.h"

static bool is_prime(uint64_t n)
{
	for (uint64_t divisor = 2; divisor * divisor <= n; divisor++) {
		if (n % divisor == 0)
			return false;
	}
	return n > 1;
}

static const uint32_t rates[] = { 1, 99, 100, 250, 997, 1000, 10000, 20000, 50000 };

static void a_period_is_prime_and_within_five_percent(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
		for (uint32_t serial = 0; serial < 40; serial++) {
			const uint64_t round = 1000000000ULL / rates[i];
			const uint64_t period = perf_choose_period(rates[i], serial);

			assert_true(is_prime(period));
			assert_in_range(period, round - round * 51 / 1000,
					round + round * 51 / 1000);
		}
	}
}

/* A program in step with the round period passes by all its phases within 125 samples. */
static void a_period_is_out_of_step_with_the_round_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
		const int64_t round = 1000000000LL / rates[i];

		for (uint32_t serial = 0; serial < 40; serial++) {
			const int64_t off =
				(int64_t)perf_choose_period(rates[i], serial) - round;

			assert_true((off < 0 ? -off : off) * 125 >= round);
		}
	}
}

static void a_number_has_one_period_for_as_long_as_a_recorder_runs(void **state)
{
	(void)state;
	for (uint32_t serial = 0; serial < 40; serial++)
		assert_int_equal(perf_choose_period(1000, serial),
				 perf_choose_period(1000, serial));
}

static int read_all(int fd, uint64_t *out_period)
{
	return read(fd, out_period, sizeof *out_period) == (ssize_t)sizeof *out_period ? 0 : -1;
}

/* In a process of its own, as this one's is drawn: what a recorder chooses first. */
static uint64_t another_recorders(void)
{
	uint64_t period = 0;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		period = perf_choose_period(1000, 0);
		_exit(write(ends[1], &period, sizeof period) != (ssize_t)sizeof period);
	}
	close(ends[1]);
	assert_int_equal(read_all(ends[0], &period), 0);
	close(ends[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return period;
}

/* Of 80,000 numbers about one in 14 is prime: four recorders draw the same once in 10^11 times. */
static void another_recorder_has_other_periods(void **state)
{
	uint64_t periods[4];

	(void)state;
	for (size_t i = 0; i < 4; i++)
		periods[i] = another_recorders();
	assert_false(periods[0] == periods[1] && periods[1] == periods[2] &&
		     periods[2] == periods[3]);
}

static void processes_have_different_periods(void **state)
{
	size_t same = 0;

	(void)state;
	for (uint32_t serial = 0; serial < 19; serial++)
		same += perf_choose_period(1000, serial) ==
			perf_choose_period(1000, serial + 1);
	assert_in_range(same, 0, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* First: nothing of this process's has been drawn. */
		cmocka_unit_test(another_recorder_has_other_periods),
		cmocka_unit_test(a_period_is_prime_and_within_five_percent),
		cmocka_unit_test(a_period_is_out_of_step_with_the_round_one),
		cmocka_unit_test(a_number_has_one_period_for_as_long_as_a_recorder_runs),
		cmocka_unit_test(processes_have_different_periods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
