/*
 * The agent's clock on a machine made by hand: time, CPU time and switches are what the test
 * says, and system calls are counted.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/core/own_handshake.h"
#include "agent/core/own_process.h"
#include "agent/core/own_ring.h"
#include "agent/core/permits.h"
#include "abi/ring.h"
#include "agent/core/memory.h"
#include "agent/core/thread_notes.h"
#include "agent/sample/clock.h"
#include "agent/core/arch.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#define PERIOD 100000ULL

struct own_ring own_ring;
struct own_process own_process;
struct permits permits;
struct own_handshake own_handshake;
__thread struct thread_notes thread_notes;

static struct {
	u64 time_ns, cpu_ns, switches;
	u32 calls;
} machine;

static struct timespec timespec_of(u64 ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000),
				  .tv_nsec = (long)(ns % 1000000000) };
}

static long made_syscall4(long number, long a, long b, long c, long d)
{
	(void)c;
	(void)d;
	machine.calls++;
	if (number == SYS_gettid)
		return 77;
	if (number == SYS_getrusage) {
		struct rusage *usage = (struct rusage *)b;

		memset(usage, 0, sizeof *usage);
		usage->ru_nvcsw = (long)machine.switches;
		return 0;
	}
	assert_int_equal(number, SYS_clock_gettime);
	assert_true(a == CLOCK_THREAD_CPUTIME_ID || a == CLOCK_PROCESS_CPUTIME_ID);
	*(struct timespec *)b = timespec_of(machine.cpu_ns);
	return 0;
}

static int made_clock_gettime(clockid_t clock, struct timespec *out_time)
{
	assert_int_equal(clock, CLOCK_MONOTONIC);
	*out_time = timespec_of(machine.time_ns);
	return 0;
}

#define arch_syscall4 made_syscall4
#define clock_gettime made_clock_gettime
#include "agent/sample/clock.c"
#include "agent/sample/clock_read.c"
#include "agent/sample/clock_thread.c"

static struct ring_header ring;

bool memory_probe(u64 addr)
{
	return addr != 0;
}

/* Code that was interrupted as it ran, and code that comes back from a system call. */
static const u8 user_code[64] __attribute__((aligned(64))) = { 0x90 };
static const u8 call_code[64] __attribute__((aligned(64))) = ARCH_CALL;

static int begin(void **state)
{
	(void)state;
	memset(&machine, 0, sizeof machine);
	memset(&ring, 0, sizeof ring);
	memset(&thread_notes, 0, sizeof thread_notes);
	memset(&clock_own, 0, sizeof clock_own);
	machine.time_ns = 5000000000;
	own_ring = (struct own_ring){ .header = &ring, .terms.period_ns = PERIOD };
	own_process = (struct own_process){ 0 };
	permits = (struct permits){ .may_call = true, .may_read_counter = true };
	clock_begin_thread();
	thread_notes.tid = 77;
	machine.calls = 0;
	return 0;
}

static struct sample_time run_until(u64 ns, const u8 *code)
{
	machine.time_ns += ns;
	machine.cpu_ns += ns;
	return clock_weigh(&ring, 0, (u64)(code + ARCH_CALL_BYTES));
}

/* The thread runs for so long, and is trapped. */
static struct sample_time run(u64 ns)
{
	return run_until(ns, user_code);
}

/* It runs for so long, the last part in a system call, and is trapped behind it. */
static struct sample_time run_call(u64 ns)
{
	return run_until(ns, call_code);
}

static void a_busy_threads_samples_stand_for_one_period_without_a_call(void **state)
{
	(void)state;
	/* The first shows where the periods end. */
	assert_int_equal(run(PERIOD).weight_ns, PERIOD);
	machine.calls = 0;
	for (u32 i = 0; i < SAMPLES_PER_CLOCK_READ - 1; i++)
		assert_int_equal(run(PERIOD).weight_ns, PERIOD);
	assert_int_equal(machine.calls, 0);
	assert_int_equal(run(PERIOD).weight_ns, PERIOD);
	assert_int_equal(machine.calls, 1);
}

static void a_trap_behind_a_long_call_stands_for_all_its_periods(void **state)
{
	(void)state;
	assert_int_equal(run_call(500 * PERIOD).weight_ns, 500 * PERIOD);
	assert_int_equal(run(PERIOD).weight_ns, PERIOD);
}

static void parts_of_periods_add_up(void **state)
{
	u64 weights_ns = 0;

	(void)state;
	for (u32 i = 0; i < 1000; i++)
		weights_ns += run_call(PERIOD * 19 / 10).weight_ns;
	assert_in_range(weights_ns, 1899 * PERIOD, 1901 * PERIOD);
}

/* Each turn computes for 1.4 periods, with a trap, and is 3.3 in a call, with one behind it. */
static void a_call_gets_the_periods_that_end_in_it(void **state)
{
	u64 computed_ns = 0, called_ns = 0;

	(void)state;
	run(PERIOD);
	for (u64 turn = 0, phase = 0; turn < 1000; turn++) {
		/*
		 * The event's periods end at whole multiples; phase is where the turn
		 * begins.
		 */
		const u64 begin = phase, call = begin + PERIOD * 14 / 10,
			  end = call + PERIOD * 33 / 10;
		u64 at = begin;

		for (u64 trap = begin - begin % PERIOD + PERIOD; trap <= call; trap += PERIOD) {
			computed_ns += run(trap - at).weight_ns;
			at = trap;
		}
		called_ns += run_call(end - at).weight_ns;
		phase = end;
	}
	assert_in_range(computed_ns, 1395 * PERIOD, 1405 * PERIOD);
	assert_in_range(called_ns, 3295 * PERIOD, 3305 * PERIOD);
}

static void sleeping_is_no_time(void **state)
{
	(void)state;
	machine.time_ns += 1000 * PERIOD;
	assert_int_equal(run(PERIOD).weight_ns, PERIOD);
}

/* Between two traps it ran for one period, and was switched to 100 times at 0.6 us each. */
static u64 run_with_switches(u32 times)
{
	u64 weights_ns = 0;

	for (u32 i = 0; i < times; i++) {
		machine.switches += 100;
		machine.cpu_ns += 100 * 600;
		machine.time_ns += 3 * PERIOD;
		weights_ns += run(PERIOD).weight_ns;
	}
	return weights_ns;
}

static void what_switches_cost_is_no_time(void **state)
{
	(void)state;
	ring.switch_cost_ns = 600;
	assert_int_equal(run_with_switches(1000), 1000 * PERIOD);
}

static void a_long_call_after_many_switches_still_counts(void **state)
{
	(void)state;
	ring.switch_cost_ns = 600;
	run_with_switches(1000);
	assert_int_equal(run_call(50 * PERIOD).weight_ns, 50 * PERIOD);
}

static void an_error_of_a_tenth_in_what_switches_cost_does_no_harm(void **state)
{
	(void)state;
	ring.switch_cost_ns = 500;
	assert_int_equal(run_with_switches(1000), 1000 * PERIOD);
	begin(state);
	ring.switch_cost_ns = 700;
	assert_int_equal(run_with_switches(1000), 1000 * PERIOD);
}

/* The thread was preempted as often, and did not pay for it. */
static u64 run_preempted(u32 times, u32 switches, const u8 *code)
{
	u64 weights_ns = 0;

	for (u32 i = 0; i < times; i++) {
		machine.switches += switches;
		machine.time_ns += 3 * PERIOD;
		weights_ns += run_until(PERIOD, code).weight_ns;
	}
	return weights_ns;
}

static void switches_that_cost_nothing_take_nothing_off(void **state)
{
	(void)state;
	ring.switch_cost_ns = 600;
	assert_in_range(run_preempted(1000, 100, user_code), 999 * PERIOD, 1000 * PERIOD);
	assert_in_range(run_preempted(1000, 1, user_code), 1000 * PERIOD, 1000 * PERIOD);
	assert_in_range(run_preempted(1000, 100, call_code), 1000 * PERIOD, 1000 * PERIOD);
	/* What was assumed of the past is no matter of a call's. */
	assert_int_equal(run_call(50 * PERIOD).weight_ns, 50 * PERIOD);
}

static void a_long_call_does_not_pay_for_later_switches(void **state)
{
	(void)state;
	ring.switch_cost_ns = 600;
	run_call(300 * PERIOD);
	assert_in_range(run_preempted(1000, 100, user_code), 999 * PERIOD, 1000 * PERIOD);
}

static void a_thread_among_others_stands_for_its_traps(void **state)
{
	(void)state;
	own_process.has_had_threads = true;
	clock_expect_end();
	ring.switch_cost_ns = 600;
	assert_in_range(run_preempted(1000, 100, user_code), 997 * PERIOD, 1000 * PERIOD);
}

/* Many live at once, and each will have what it has burned at its end. */
static void a_trap_is_not_taken_for_what_others_have_yet_to_book(void **state)
{
	u64 covered_ns = 0;

	(void)state;
	own_process.has_had_threads = true;
	for (u32 i = 0; i < 1000; i++)
		clock_expect_end();
	for (u32 i = 0; i < 1000; i++) {
		memset(&thread_notes, 0, sizeof thread_notes);
		memset(&clock_own, 0, sizeof clock_own);
		clock_own.is_end_expected = true;
		/* One trap for five threads. */
		machine.cpu_ns = 0;
		if (i % 5 == 4)
			covered_ns += run(PERIOD / 5).weight_ns;
		else
			machine.cpu_ns = PERIOD / 5;
		covered_ns += clock_end_thread(&ring).weight_ns;
	}
	assert_in_range(covered_ns, 199 * PERIOD, 201 * PERIOD);
}

static void what_was_covered_too_much_is_taken_back_when_the_cost_is_raised(void **state)
{
	(void)state;
	ring.switch_cost_ns = 300;
	u64 weights_ns = run_with_switches(1000);

	assert_in_range(weights_ns, 1250 * PERIOD, 1350 * PERIOD);
	ring.switch_cost_ns = 600;
	weights_ns += run_with_switches(1000);
	assert_in_range(weights_ns, 1990 * PERIOD, 2050 * PERIOD);
}

/* Threads hand the rest of a period on to each other: its traps come early and late. */
static void traps_that_are_not_a_period_apart_weigh_what_was_run(void **state)
{
	u64 weights_ns = 0;

	(void)state;
	own_process.has_had_threads = true;
	for (u32 i = 0; i < 1000; i++) {
		machine.time_ns += 3 * PERIOD;
		weights_ns += run(PERIOD / 10).weight_ns;
		machine.time_ns += 3 * PERIOD;
		weights_ns += run(PERIOD * 19 / 10).weight_ns;
	}
	assert_in_range(weights_ns, 1999 * PERIOD, 2000 * PERIOD);
}

/*
 * The creator of short threads: turns of a period in its own code and one in which it is switched
 * to and from before its trap, at so many ns each where 3,000 are taken off.  Returns how much
 * more its system calls weigh than their traps.
 */
static int64_t weigh_creator(u64 switch_ns, u32 turns)
{
	int64_t more_ns = 0;

	ring.switch_cost_ns = 3000;
	for (u32 i = 0; i < turns; i++) {
		run(PERIOD);
		machine.switches += 8;
		machine.cpu_ns += 8 * switch_ns;
		machine.time_ns += PERIOD;
		more_ns += (int64_t)run_call(PERIOD).weight_ns - (int64_t)PERIOD;
	}
	return more_ns;
}

static void a_creators_traps_stand_for_a_period_whatever_switches_cost(void **state)
{
	for (u64 switch_ns = 500; switch_ns <= 6000; switch_ns += 500) {
		begin(state);
		ring.unshared_tids[RING_CREATORS - 1] = 77;
		assert_int_equal(weigh_creator(switch_ns, 1000), 0);
		assert_int_equal(clock_own.covered_ns, 2000 * PERIOD);
	}
}

static void a_creators_long_call_counts_though_too_much_was_taken_off(void **state)
{
	(void)state;
	ring.unshared_tids[0] = 77;
	/* Without code of its own in between, after which periods are counted anew. */
	ring.switch_cost_ns = 3000;
	for (u32 i = 0; i < 1000; i++) {
		machine.switches += 8;
		machine.cpu_ns += 8 * 500;
		assert_int_equal(run_call(PERIOD).weight_ns, PERIOD);
	}
	assert_in_range(run_call(50 * PERIOD).weight_ns, 49 * PERIOD, 50 * PERIOD);
}

static void switches_are_reported_to_the_recorder(void **state)
{
	(void)state;
	ring.switch_cost_ns = 600;
	machine.switches = 40;
	run(10 * PERIOD);
	machine.switches = 100;
	run(10 * PERIOD);
	assert_int_equal(ring.switches, 100);
}

static void user_mode_samples_stand_for_one_period_whatever_the_clock_says(void **state)
{
	(void)state;
	own_ring.terms.flags = RING_USER_MODE_ONLY;
	struct sample_time time = run(70 * PERIOD);

	assert_int_equal(time.weight_ns, PERIOD);
	assert_int_equal(time.covered_ns, 70 * PERIOD);
}

static u64 tick(u64 ns, const u8 *code)
{
	machine.time_ns += ns;
	machine.cpu_ns += ns;
	return clock_weigh_tick(&ring, (u64)(code + ARCH_CALL_BYTES)).weight_ns;
}

static u64 ticks_covered_ns;

static u64 unsampled_ns(void)
{
	return clock_unsampled_ns(&ticks_covered_ns);
}

static void a_tick_behind_a_call_stands_for_the_time_since_the_tick_before(void **state)
{
	(void)state;
	own_ring.terms.flags = RING_USER_MODE_ONLY;
	assert_int_equal(run(PERIOD).weight_ns, PERIOD);
	/* From when the timer has counted is not known. */
	assert_int_equal(tick(10 * PERIOD, call_code), 0);
	assert_int_equal(tick(40 * PERIOD, call_code), 40 * PERIOD);
	assert_int_equal(tick(40 * PERIOD, user_code), 0);
	assert_int_equal(unsampled_ns(), 50 * PERIOD);
	/* What was user mode has its events. */
	for (u32 i = 0; i < 40; i++)
		assert_int_equal(run(0).weight_ns, PERIOD);
	assert_int_equal(unsampled_ns(), 10 * PERIOD);
	assert_int_equal(ticks_covered_ns, 91 * PERIOD);
}

static void a_child_of_fork_has_ticks_of_its_own(void **state)
{
	(void)state;
	own_ring.terms.flags = RING_USER_MODE_ONLY;
	for (u32 i = 0; i < 30; i++)
		run(PERIOD);
	clock_begin_thread();
	assert_int_equal(tick(10 * PERIOD, call_code), 0);
	assert_int_equal(unsampled_ns(), 10 * PERIOD);
	assert_int_equal(tick(10 * PERIOD, call_code), 10 * PERIOD);
}

static void ticks_stand_for_no_more_than_events_leave(void **state)
{
	(void)state;
	own_ring.terms.flags = RING_USER_MODE_ONLY;
	assert_int_equal(tick(10 * PERIOD, call_code), 0);
	for (u32 i = 0; i < 30; i++)
		run(PERIOD);
	assert_int_equal(tick(10 * PERIOD, call_code), 20 * PERIOD);
	/* The ticks were for 40: 20 are the next one's, as far as there are so many. */
	assert_int_equal(tick(30 * PERIOD, user_code), 0);
	assert_int_equal(tick(0, call_code), 0);
	assert_int_equal(tick(1, call_code), 20 * PERIOD + 1);
	assert_int_equal(unsampled_ns(), 10 * PERIOD);
}

static void a_timers_sample_weighs_what_the_clock_says(void **state)
{
	(void)state;
	own_ring.terms.flags = RING_TIMER;
	own_ring.has_timers = true;
	assert_int_equal(run(4123456).weight_ns, 4123456);
	assert_int_equal(run(3999999).weight_ns, 3999999);
}

/* Its period is long, so that the clock is read at each sample. */
static void begin_long(u32 flags)
{
	own_ring.terms.period_ns = 1000000;
	own_ring.terms.flags = flags;
	ring.switch_cost_ns = 2000;
}

static void a_change_to_timers_neither_loses_time_nor_makes_any(void **state)
{
	static const u32 flags[] = { 0, RING_USER_MODE_ONLY };

	for (size_t i = 0; i < 2; i++) {
		begin(state);
		begin_long(flags[i]);
		/* 300 switches, of which nothing is a sample's. */
		machine.switches += 300;
		machine.cpu_ns += 300 * 2000;
		run(5 * 1000000);
		const u64 covered_ns = clock_own.covered_ns;

		own_ring.has_timers = true;
		/* From here on each is the thread's own time. */
		machine.switches += 1000;
		const struct sample_time time = run(4 * 1000000 + 12345);

		assert_int_equal(time.covered_ns - covered_ns, 4 * 1000000 + 12345);
		assert_int_equal(time.weight_ns, 4 * 1000000 + 12345);
		assert_int_equal(run(3999999).weight_ns, 3999999);
		assert_int_equal(ring.switches, 1300);
		assert_int_equal(ring.waits, 1300);
		/* And at its end nothing is left. */
		assert_int_equal(clock_end_thread(&ring).weight_ns, 0);
	}
}

static void a_thread_that_begins_behind_a_change_counts_all_of_its_life(void **state)
{
	(void)state;
	begin_long(0);
	own_ring.has_timers = true;
	memset(&thread_notes, 0, sizeof thread_notes);
	memset(&clock_own, 0, sizeof clock_own);
	machine.cpu_ns = 123456;
	machine.switches = 40;
	assert_int_equal(clock_end_thread(&ring).weight_ns, 123456);
}

static void the_first_sample_of_another_period_stands_for_all_since_the_one_before(void **state)
{
	(void)state;
	run(PERIOD);
	run(PERIOD);
	clock_set_rung(2);
	/* The event before had counted a part of its period when it was switched off. */
	const struct sample_time time = run(PERIOD * 2 / 5 + 4 * PERIOD);

	assert_int_equal(time.weight_ns, PERIOD * 2 / 5 + 4 * PERIOD);
	assert_int_equal(time.covered_ns, 6 * PERIOD + PERIOD * 2 / 5);
	assert_int_equal(run(4 * PERIOD).weight_ns, 4 * PERIOD);
}

static void samples_of_a_longer_period_stand_for_that(void **state)
{
	u64 sum_ns = 0;

	(void)state;
	run(PERIOD);
	clock_set_rung(3);
	sum_ns += run(8 * PERIOD).weight_ns;
	for (int i = 0; i < 20; i++)
		sum_ns += run(8 * PERIOD).weight_ns;
	assert_int_equal(sum_ns, 21 * 8 * PERIOD);
	assert_int_equal(run_call(80 * PERIOD).weight_ns, 80 * PERIOD);
	clock_set_rung(0);
	assert_int_equal(run(3 * PERIOD).weight_ns, 3 * PERIOD);
	assert_int_equal(run(PERIOD).weight_ns, PERIOD);
}

static void a_user_mode_sample_of_a_longer_period_stands_for_that(void **state)
{
	(void)state;
	own_ring.terms.flags = RING_USER_MODE_ONLY;
	run(PERIOD);
	clock_set_rung(1);
	assert_int_equal(run(2 * PERIOD).weight_ns, 2 * PERIOD);
	assert_int_equal(run(2 * PERIOD).weight_ns, 2 * PERIOD);
}

static void under_a_filter_nothing_is_called(void **state)
{
	(void)state;
	permits.may_call = false;
	thread_notes.tid = 0;
	for (u32 i = 0; i < 1000; i++)
		assert_int_equal(run(3 * PERIOD).weight_ns, PERIOD);
	assert_int_equal(machine.calls, 0);
}

static void without_a_counter_samples_are_dated_by_their_period(void **state)
{
	(void)state;
	permits.may_call = permits.may_read_counter = false;
	const u64 first_ns = run(PERIOD).time_ns;

	assert_int_equal(run(5 * PERIOD).time_ns, first_ns + PERIOD);
}

static void an_older_threads_past_is_not_sampled_time(void **state)
{
	(void)state;
	memset(&thread_notes, 0, sizeof thread_notes);
	memset(&clock_own, 0, sizeof clock_own);
	ring.older_tids[0] = 77;
	machine.cpu_ns = 900 * PERIOD;
	struct sample_time time = clock_weigh(&ring, 0, (u64)(user_code + ARCH_CALL_BYTES));

	assert_int_equal(time.weight_ns, PERIOD);
	assert_int_equal(time.covered_ns, PERIOD);
}

static void a_new_threads_first_sample_covers_its_life(void **state)
{
	(void)state;
	memset(&thread_notes, 0, sizeof thread_notes);
	memset(&clock_own, 0, sizeof clock_own);
	machine.cpu_ns = PERIOD;
	struct sample_time time = clock_weigh(&ring, 0, (u64)(user_code + ARCH_CALL_BYTES));

	assert_int_equal(time.weight_ns, PERIOD);
	assert_int_equal(time.covered_ns, PERIOD);
}

#define CLOCK(test) cmocka_unit_test_setup(test, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLOCK(a_busy_threads_samples_stand_for_one_period_without_a_call),
		CLOCK(a_trap_behind_a_long_call_stands_for_all_its_periods),
		CLOCK(parts_of_periods_add_up),
		CLOCK(a_call_gets_the_periods_that_end_in_it),
		CLOCK(sleeping_is_no_time),
		CLOCK(what_switches_cost_is_no_time),
		CLOCK(a_long_call_after_many_switches_still_counts),
		CLOCK(an_error_of_a_tenth_in_what_switches_cost_does_no_harm),
		CLOCK(switches_that_cost_nothing_take_nothing_off),
		CLOCK(a_long_call_does_not_pay_for_later_switches),
		CLOCK(a_thread_among_others_stands_for_its_traps),
		CLOCK(a_trap_is_not_taken_for_what_others_have_yet_to_book),
		CLOCK(what_was_covered_too_much_is_taken_back_when_the_cost_is_raised),
		CLOCK(traps_that_are_not_a_period_apart_weigh_what_was_run),
		CLOCK(a_creators_traps_stand_for_a_period_whatever_switches_cost),
		CLOCK(a_creators_long_call_counts_though_too_much_was_taken_off),
		CLOCK(switches_are_reported_to_the_recorder),
		CLOCK(user_mode_samples_stand_for_one_period_whatever_the_clock_says),
		CLOCK(a_tick_behind_a_call_stands_for_the_time_since_the_tick_before),
		CLOCK(a_child_of_fork_has_ticks_of_its_own),
		CLOCK(ticks_stand_for_no_more_than_events_leave),
		CLOCK(a_timers_sample_weighs_what_the_clock_says),
		CLOCK(a_change_to_timers_neither_loses_time_nor_makes_any),
		CLOCK(a_thread_that_begins_behind_a_change_counts_all_of_its_life),
		CLOCK(the_first_sample_of_another_period_stands_for_all_since_the_one_before),
		CLOCK(samples_of_a_longer_period_stand_for_that),
		CLOCK(a_user_mode_sample_of_a_longer_period_stands_for_that),
		CLOCK(under_a_filter_nothing_is_called),
		CLOCK(without_a_counter_samples_are_dated_by_their_period),
		CLOCK(an_older_threads_past_is_not_sampled_time),
		CLOCK(a_new_threads_first_sample_covers_its_life),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
