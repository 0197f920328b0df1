/* A thread's life on the wall clock: its rows sum to it, and waits stand where they were read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h expects those before it. */
#include <cmocka.h>

#include "collect/wall/thread.h"

#define MS  1000000ULL
#define US  1000ULL
#define GAP (10 * MS)

/* What came into rows. */
static uint64_t by_kind[4], by_state[WAIT_STATE_COUNT], by_stack[16], ended_ns[16];

static void add(void *context, const struct wall_row *row)
{
	(void)context;
	by_kind[row->kind] += row->ns;
	by_state[row->state] += row->ns;
	if (row->kind == WALL_ROW_STACK) {
		by_stack[row->stack] += row->ns;
		ended_ns[row->stack] = row->time_ns;
	}
}

static const struct wall_rows rows = { .add = add };

static void begin(struct wall_thread *thread, enum wall_place place)
{
	memset(by_kind, 0, sizeof by_kind);
	memset(by_state, 0, sizeof by_state);
	memset(by_stack, 0, sizeof by_stack);
	*thread = (struct wall_thread){ .row = 1 };
	wall_thread_begin(thread, place, 1000 * MS);
}

static uint64_t sum(void)
{
	uint64_t all = 0;

	for (int i = 0; i < WAIT_STATE_COUNT; i++)
		all += by_state[i];
	return all;
}

static void end(struct wall_thread *thread, uint64_t time_ns)
{
	wall_thread_end(thread, &rows, time_ns);
	wall_thread_close(thread, &rows);
	assert_int_equal(sum(), time_ns - 1000 * MS);
}

static const struct wall_read in_sleep = { .has_stack = true,
					   .state = WAIT_STATE_SLEEP,
					   .stack = 3 };
static const struct wall_read in_io = { .has_stack = true, .state = WAIT_STATE_IO, .stack = 4 };

static void a_long_wait_has_its_stack_for_all_of_it(void **state)
{
	struct wall_thread thread;

	(void)state;
	begin(&thread, WALL_RUNS);
	wall_thread_switch_out(&thread, &rows, 1002 * MS, false);
	wall_thread_take_read(&thread, &in_sleep, GAP);
	wall_thread_switch_in(&thread, &rows, 1102 * MS);
	wall_thread_settle(&thread, &rows, NULL);
	assert_int_equal(by_stack[3], 100 * MS);
	end(&thread, 1105 * MS);
	assert_int_equal(by_state[WAIT_STATE_SLEEP], 100 * MS);
	assert_int_equal(by_kind[WALL_ROW_UNSAMPLED], 5 * MS);
}

/* Whatever came before the thread was settled: owners are found by that time. */
static void rows_of_waits_end_when_these_did(void **state)
{
	struct wall_thread thread;

	(void)state;
	begin(&thread, WALL_RUNS);
	wall_thread_switch_out(&thread, &rows, 1010 * MS, false);
	wall_thread_take_read(&thread, &in_sleep, GAP);
	wall_thread_switch_in(&thread, &rows, 1040 * MS);
	wall_thread_switch_out(&thread, &rows, 1041 * MS, false);
	wall_thread_take_read(&thread, &in_io, GAP);
	wall_thread_switch_in(&thread, &rows, 1045 * MS);
	wall_thread_settle(&thread, &rows, NULL);
	assert_int_equal(ended_ns[3], 1040 * MS);
	assert_int_equal(ended_ns[4], 1045 * MS);
	end(&thread, 1050 * MS);
}

static void a_long_wait_is_in_rows_before_it_ends(void **state)
{
	struct wall_thread thread;

	(void)state;
	begin(&thread, WALL_RUNS);
	wall_thread_switch_out(&thread, &rows, 1000 * MS, false);
	wall_thread_take_read(&thread, &in_sleep, GAP);
	wall_thread_book(&thread, &rows, 3000 * MS);
	assert_int_equal(by_stack[3], 2000 * MS);
	wall_thread_switch_in(&thread, &rows, 4000 * MS);
	end(&thread, 4000 * MS);
	assert_int_equal(by_stack[3], 3000 * MS);
}

/* 1 ms waits: one in ten is met at a tick, and stands for a tick. */
static void short_waits_that_were_met_stand_for_ticks(void **state)
{
	struct wall_thread thread;
	uint64_t now = 1000 * MS;

	(void)state;
	begin(&thread, WALL_RUNS);
	for (int i = 0; i < 1000; i++) {
		wall_thread_switch_out(&thread, &rows, now, false);
		if (i % 10 == 5)
			wall_thread_take_read(&thread, i % 20 == 5 ? &in_io : &in_sleep, GAP);
		now += MS;
		wall_thread_switch_in(&thread, &rows, now);
		wall_thread_settle(&thread, &rows, NULL);
	}
	end(&thread, now);
	assert_true(by_stack[3] > 480 * MS && by_stack[3] <= 500 * MS);
	assert_true(by_stack[4] > 480 * MS && by_stack[4] <= 500 * MS);
	assert_true(by_kind[WALL_ROW_SHORT] <= 20 * MS);
}

/*
 * The recorder waits for a CPU as the thread does: ticks come late, and find sleeps of 1 ms five
 * times too rarely, but all waits of 6 ms as often as they should.
 */
static void waits_of_one_length_lose_no_time_to_those_of_another(void **state)
{
	struct wall_thread thread;
	uint64_t now = 1000 * MS;

	(void)state;
	begin(&thread, WALL_RUNS);
	for (int i = 0; i < 1000; i++) {
		const bool is_sleep = i % 2 == 0;
		const int every = is_sleep ? 100 : 4;

		wall_thread_switch_out(&thread, &rows, now, false);
		if (i / 2 % (every / 2) == 1)
			wall_thread_take_read(&thread, is_sleep ? &in_sleep : &in_io, GAP);
		now += is_sleep ? MS : 6 * MS;
		wall_thread_switch_in(&thread, &rows, now);
		wall_thread_settle(&thread, &rows, NULL);
	}
	end(&thread, now);
	assert_int_equal(by_state[WAIT_STATE_SLEEP], 500 * MS);
	assert_int_equal(by_state[WAIT_STATE_IO], 3000 * MS);
	assert_int_equal(by_stack[3], 10 * GAP);
}

/* Two waits of one length, and more reads than time: each has its part, whichever came first. */
static void reads_of_one_length_share_its_time(void **state)
{
	struct wall_thread thread;
	uint64_t now = 1000 * MS;

	(void)state;
	begin(&thread, WALL_RUNS);
	for (int i = 0; i < 100; i++) {
		wall_thread_switch_out(&thread, &rows, now, false);
		wall_thread_take_read(&thread, i % 4 == 0 ? &in_io : &in_sleep, GAP);
		now += MS;
		wall_thread_switch_in(&thread, &rows, now);
	}
	wall_thread_settle(&thread, &rows, NULL);
	end(&thread, now);
	assert_in_range(by_state[WAIT_STATE_IO], 24 * MS, 26 * MS);
}

/* Sleeps of 12 ms and brief reads of a file: a sleep that a late tick missed is no read. */
static void a_long_wait_that_was_missed_is_like_those_of_its_length(void **state)
{
	struct wall_thread thread;
	uint64_t now = 1000 * MS;

	(void)state;
	begin(&thread, WALL_RUNS);
	for (int i = 0; i < 20; i++) {
		wall_thread_switch_out(&thread, &rows, now, false);
		if (i < 15)
			wall_thread_take_read(&thread, &in_sleep, GAP);
		now += 12 * MS;
		wall_thread_switch_in(&thread, &rows, now);
		wall_thread_settle(&thread, &rows, NULL);
		wall_thread_switch_out(&thread, &rows, now, false);
		if (i % 4 == 0)
			wall_thread_take_read(&thread, &in_io, GAP);
		now += 200 * US;
		wall_thread_switch_in(&thread, &rows, now);
		wall_thread_settle(&thread, &rows, NULL);
	}
	end(&thread, now);
	assert_int_equal(by_state[WAIT_STATE_SLEEP], 20 * 12 * MS);
	assert_int_equal(by_state[WAIT_STATE_IO], 20 * 200 * US);
}

static void waits_without_a_read_have_their_time_and_no_stack(void **state)
{
	struct wall_thread thread;
	uint64_t now = 1000 * MS;

	(void)state;
	begin(&thread, WALL_RUNS);
	for (int i = 0; i < 1000; i++) {
		wall_thread_switch_out(&thread, &rows, now, false);
		now += 20 * US;
		wall_thread_switch_in(&thread, &rows, now);
		/* Met, and gone on before its stack was read. */
		if (i == 500)
			wall_thread_take_state(&thread, &rows, WAIT_STATE_IO, GAP,
					       now - 10 * US);
		wall_thread_settle(&thread, &rows, NULL);
	}
	end(&thread, now);
	assert_int_equal(by_kind[WALL_ROW_SHORT], 20 * MS);
	assert_int_equal(by_kind[WALL_ROW_STACK], 0);
	assert_int_equal(by_state[WAIT_STATE_IO], 20 * MS);
}

static void a_state_that_was_read_in_a_later_wait_is_not_the_ended_ones(void **state)
{
	struct wall_thread thread;
	uint64_t now = 1000 * MS;

	(void)state;
	begin(&thread, WALL_RUNS);
	for (int i = 0; i < 100; i++) {
		wall_thread_switch_out(&thread, &rows, now, false);
		now += 100 * US;
		if (i % 4 == 0)
			wall_thread_take_read(&thread, &in_io, GAP);
		wall_thread_switch_in(&thread, &rows, now);
		if (i % 4 == 1)
			wall_thread_take_state(&thread, &rows, WAIT_STATE_SLEEP, GAP,
					       now + 50 * US);
		wall_thread_settle(&thread, &rows, NULL);
	}
	end(&thread, now);
	assert_int_equal(by_state[WAIT_STATE_SLEEP], 0);
	assert_int_equal(by_state[WAIT_STATE_IO], 100 * 100 * US);
}

static void what_preempted_threads_and_new_ones_wait_for_is_a_cpu(void **state)
{
	struct wall_thread thread;

	(void)state;
	begin(&thread, WALL_QUEUES);
	wall_thread_switch_in(&thread, &rows, 1003 * MS);
	wall_thread_switch_out(&thread, &rows, 1005 * MS, true);
	wall_thread_switch_in(&thread, &rows, 1009 * MS);
	end(&thread, 1010 * MS);
	assert_int_equal(by_state[WAIT_STATE_RUNNABLE], 7 * MS);
	assert_int_equal(by_state[WAIT_STATE_RUNNING], 3 * MS);
}

static void a_wakes_delay_is_no_waiting(void **state)
{
	struct wall_thread thread;
	const struct wall_sched before = { .delay_ns = 5 * MS };
	const struct wall_sched after = { .delay_ns = 9 * MS, .slices = 2 };

	(void)state;
	begin(&thread, WALL_RUNS);
	wall_thread_switch_out(&thread, &rows, 1000 * MS, false);
	wall_thread_settle(&thread, &rows, &before);
	wall_thread_take_read(&thread, &in_io, GAP);
	wall_thread_switch_in(&thread, &rows, 1050 * MS);
	/* Preempted for 1 ms, and 3 ms after the wake. */
	wall_thread_switch_out(&thread, &rows, 1051 * MS, true);
	wall_thread_switch_in(&thread, &rows, 1052 * MS);
	wall_thread_settle(&thread, &rows, &after);
	end(&thread, 1053 * MS);
	assert_int_equal(by_stack[4], 47 * MS);
	assert_int_equal(by_state[WAIT_STATE_RUNNABLE], 4 * MS);
}

/* Several waits ended before schedstat had their switches: each gives its part, whatever came before. */
static void each_wait_gives_its_delay(void **state)
{
	struct wall_thread thread;

	(void)state;
	begin(&thread, WALL_QUEUES);
	wall_thread_switch_in(&thread, &rows, 1000 * MS);
	wall_thread_switch_out(&thread, &rows, 1001 * MS, false);
	for (uint64_t i = 0; i < 3; i++) {
		const uint64_t from_ns = 1001 * MS + i * 50 * MS;

		wall_thread_take_read(&thread, &in_io, GAP);
		wall_thread_switch_in(&thread, &rows, from_ns + 40 * MS);
		wall_thread_switch_out(&thread, &rows, from_ns + 41 * MS, false);
		wall_thread_take_read(&thread, &in_sleep, GAP);
		wall_thread_switch_in(&thread, &rows, from_ns + 49 * MS);
		wall_thread_switch_out(&thread, &rows, from_ns + 50 * MS, false);
	}
	wall_thread_settle(
		&thread, &rows,
		&(struct wall_sched){ .run_ns = 7 * MS, .delay_ns = 12 * MS, .slices = 7 });
	end(&thread, 1151 * MS);
	/* The sleeps were too short for a tick, and have their time by their reads. */
	assert_int_equal(by_stack[4], 3 * 38 * MS);
	assert_int_equal(by_stack[3], 3 * 6 * MS);
	assert_int_equal(by_state[WAIT_STATE_RUNNABLE], 12 * MS);
}

/* It gets a CPU at once. */
static void begin_running(struct wall_thread *thread, struct wall_sched *sched)
{
	begin(thread, WALL_QUEUES);
	wall_thread_switch_in(thread, &rows, 1000 * MS);
	sched->slices++;
}

static void wait_once(struct wall_thread *thread, const struct wall_read *read, uint64_t *now,
		      uint64_t ns, uint64_t delay_ns)
{
	wall_thread_switch_out(thread, &rows, *now, false);
	wall_thread_take_read(thread, read, GAP);
	*now += ns + delay_ns;
	wall_thread_switch_in(thread, &rows, *now);
}

/*
 * A timer wakes a thread on a busy CPU, where it is runnable for 4 ms; another thread gives it the
 * CPU with what it waits for, where it is so for none.  When both waits end between two ticks, each
 * gives what waits of its state gave alone.
 */
static void each_state_gives_its_own_delay(void **state)
{
	struct wall_sched sched = { .delay_ns = 0 };
	struct wall_thread thread;
	uint64_t now = 1000 * MS;

	(void)state;
	begin_running(&thread, &sched);
	for (int i = 0; i < 40; i++) {
		const bool is_alone = i < 20;

		wait_once(&thread, &in_io, &now, 30 * MS, 0);
		sched.slices++;
		if (is_alone)
			assert_true(wall_thread_settle(&thread, &rows, &sched));
		wait_once(&thread, &in_sleep, &now, 20 * MS, 4 * MS);
		sched.slices++;
		sched.delay_ns += 4 * MS;
		assert_true(wall_thread_settle(&thread, &rows, &sched));
	}
	end(&thread, now);
	assert_in_range(by_stack[4], 40 * 30 * MS - MS, 40 * 30 * MS);
	assert_in_range(by_stack[3], 40 * 20 * MS, 40 * 20 * MS + MS);
	assert_int_equal(by_state[WAIT_STATE_RUNNABLE], 40 * 4 * MS);
}

/* 1,200 waits in turn, of which six end before the thread is settled. */
struct turns {
	uint64_t io_ns, sleep_ns;
	uint64_t late_ns; /* from the 60th on it is without a CPU so long after one of six */
	bool alternates; /* that is the first or the second of them, and not always the first */
};

/* Returns for how long the thread was runnable. */
static uint64_t take_turns(const struct turns *turns)
{
	struct wall_sched sched = { .delay_ns = 0 };
	struct wall_thread thread;
	uint64_t now = 1000 * MS;

	begin_running(&thread, &sched);
	for (int i = 0; i < 1200; i++) {
		const bool is_io = i % 2 == 0;
		const bool is_late = i >= 60 && i % 6 == (turns->alternates ? i / 6 % 2 : 0);
		const uint64_t late_ns = is_late ? turns->late_ns : 0;

		wait_once(&thread, is_io ? &in_io : &in_sleep, &now,
			  is_io ? turns->io_ns : turns->sleep_ns, late_ns);
		sched.slices++;
		sched.delay_ns += late_ns;
		if (i % 6 == 5)
			assert_true(wall_thread_settle(&thread, &rows, &sched));
	}
	end(&thread, now);
	return sched.delay_ns;
}

/* To a factor of two, a wait of 1.4 ms might as well be one of 0.9 with a delay. */
static void usual_lengths_are_more_exact_than_a_factor_of_two(void **state)
{
	const struct turns turns = { 600 * US, 1400 * US, 500 * US, false };

	(void)state;
	assert_int_equal(take_turns(&turns), 190 * 500 * US);
	assert_int_equal(by_state[WAIT_STATE_RUNNABLE], 190 * 500 * US);
	/* Of what was runnable, a tenth may be taken from the others. */
	assert_in_range(by_stack[4], 600 * 600 * US - MS, 600 * 600 * US + 190 * 50 * US);
	assert_in_range(by_stack[3], 600 * 1400 * US - 190 * 50 * US, 600 * 1400 * US + MS);
}

/* That one of six was followed by 4 ms without a CPU is known by its length. */
static void waits_of_unusual_length_give_what_was_runnable(void **state)
{
	const struct turns turns = { 300 * US, 1200 * US, 4 * MS, true };
	const uint64_t delay_ns = take_turns(&turns);

	(void)state;
	assert_int_equal(by_state[WAIT_STATE_RUNNABLE], delay_ns);
	assert_in_range(by_state[WAIT_STATE_IO], 600 * 300 * US * 9 / 10,
			600 * 300 * US * 11 / 10);
}

/* 100 waits of 20 us by the records, each with a switch of 5 us that schedstat calls running. */
static void what_a_switch_takes_is_running(void **state)
{
	struct wall_sched sched = { .run_ns = 70 * MS, .slices = 7 };
	struct wall_thread thread;
	uint64_t now = 1000 * MS;

	(void)state;
	begin(&thread, WALL_RUNS);
	wall_thread_switch_out(&thread, &rows, now, false);
	assert_true(wall_thread_settle(&thread, &rows, &sched));
	wall_thread_take_read(&thread, &in_io, GAP);
	for (int i = 0; i < 100; i++) {
		now += 20 * US;
		wall_thread_switch_in(&thread, &rows, now);
		now += 30 * US;
		wall_thread_switch_out(&thread, &rows, now, false);
		sched.run_ns += 35 * US;
		sched.slices++;
	}
	assert_true(wall_thread_settle(&thread, &rows, &sched));
	end(&thread, now);
	assert_int_equal(by_state[WAIT_STATE_IO], 100 * 15 * US);
	assert_int_equal(by_state[WAIT_STATE_RUNNING], 100 * 35 * US);
}

/* It is preempted for 1 ms, of which the switch is 10 us. */
static void what_a_preemption_takes_is_running(void **state)
{
	const struct wall_sched before = { .run_ns = 1 };
	const struct wall_sched after = { .run_ns = 1 + 2010 * US,
					  .delay_ns = 990 * US,
					  .slices = 1 };
	struct wall_thread thread;

	(void)state;
	begin(&thread, WALL_RUNS);
	wall_thread_switch_out(&thread, &rows, 1000 * MS, true);
	wall_thread_settle(&thread, &rows, &before);
	wall_thread_switch_in(&thread, &rows, 1001 * MS);
	wall_thread_switch_out(&thread, &rows, 1003 * MS, false);
	assert_true(wall_thread_settle(&thread, &rows, &after));
	end(&thread, 1003 * MS);
	assert_int_equal(by_state[WAIT_STATE_RUNNABLE], 990 * US);
	assert_int_equal(by_state[WAIT_STATE_RUNNING], 2010 * US);
}

/* On its way to sleep: it is on the queue, and schedstat counts neither that nor its way back. */
static void a_preemption_that_schedstat_does_not_count_is_waiting(void **state)
{
	const struct wall_sched before = { .run_ns = 1 };
	const struct wall_sched after = { .run_ns = 1 + 2 * MS, .slices = 1 };
	struct wall_thread thread;

	(void)state;
	begin(&thread, WALL_RUNS);
	wall_thread_switch_out(&thread, &rows, 1000 * MS, false);
	wall_thread_take_read(&thread, &in_io, GAP);
	wall_thread_settle(&thread, &rows, &before);
	wall_thread_switch_in(&thread, &rows, 1050 * MS);
	wall_thread_switch_out(&thread, &rows, 1051 * MS, true);
	wall_thread_switch_in(&thread, &rows, 1081 * MS);
	wall_thread_switch_out(&thread, &rows, 1082 * MS, false);
	for (int i = 0; i < 100 && !wall_thread_settle(&thread, &rows, &after); i++)
		continue;
	end(&thread, 1082 * MS);
	assert_int_equal(by_state[WAIT_STATE_RUNNABLE], 0);
	assert_int_equal(by_state[WAIT_STATE_RUNNING], 2 * MS);
	assert_int_equal(by_state[WAIT_STATE_IO], 80 * MS);
}

/* The record of its return comes after the figures in which that is. */
static void figures_ahead_of_records_are_of_the_same_queueing(void **state)
{
	const struct wall_sched before = { .run_ns = 1 };
	const struct wall_sched after = { .run_ns = 1 + MS, .delay_ns = 30 * MS, .slices = 1 };
	struct wall_thread thread;

	(void)state;
	begin(&thread, WALL_RUNS);
	wall_thread_switch_out(&thread, &rows, 1000 * MS, true);
	wall_thread_settle(&thread, &rows, &before);
	for (int i = 0; i < 100 && !wall_thread_settle(&thread, &rows, &after); i++)
		continue;
	wall_thread_switch_in(&thread, &rows, 1030 * MS);
	wall_thread_switch_out(&thread, &rows, 1031 * MS, false);
	for (int i = 0; i < 100 && !wall_thread_settle(&thread, &rows, &after); i++)
		continue;
	end(&thread, 1031 * MS);
	assert_int_equal(by_state[WAIT_STATE_RUNNABLE], 30 * MS);
	assert_int_equal(by_state[WAIT_STATE_RUNNING], MS);
}

static void figures_behind_later_switches_are_left_for_the_next_tick(void **state)
{
	const struct wall_sched before = { .delay_ns = 0 };
	const struct wall_sched later = { .delay_ns = 5 * MS, .slices = 2 };
	struct wall_thread thread;

	(void)state;
	begin(&thread, WALL_RUNS);
	wall_thread_switch_out(&thread, &rows, 1000 * MS, false);
	wall_thread_settle(&thread, &rows, &before);
	wall_thread_take_read(&thread, &in_io, GAP);
	wall_thread_switch_in(&thread, &rows, 1050 * MS);
	assert_false(wall_thread_settle(&thread, &rows, &later));
	wall_thread_switch_out(&thread, &rows, 1052 * MS, true);
	wall_thread_switch_in(&thread, &rows, 1053 * MS);
	assert_true(wall_thread_settle(&thread, &rows, &later));
	end(&thread, 1054 * MS);
	/* Preempted for 1 ms, and 4 ms after the wake. */
	assert_int_equal(by_state[WAIT_STATE_RUNNABLE], 5 * MS);
	assert_int_equal(by_stack[4], 46 * MS);
}

/* Of a record that was lost nothing comes any more: that it wanted a CPU is known all the same. */
static void a_lost_switch_ends_no_settling(void **state)
{
	const struct wall_sched before = { .delay_ns = 0 };
	const struct wall_sched later = { .delay_ns = 5 * MS, .slices = 2 };
	struct wall_thread thread;
	int looks = 1;

	(void)state;
	begin(&thread, WALL_RUNS);
	wall_thread_switch_out(&thread, &rows, 1000 * MS, false);
	wall_thread_settle(&thread, &rows, &before);
	wall_thread_switch_in(&thread, &rows, 1050 * MS);
	while (looks < 100 && !wall_thread_settle(&thread, &rows, &later))
		looks++;
	assert_in_range(looks, 2, 99);
	assert_true(wall_thread_settle(&thread, &rows, &later));
	end(&thread, 1054 * MS);
	assert_int_equal(by_state[WAIT_STATE_RUNNABLE], 5 * MS);
}

/*
 * It waits for 0.1 ms and runs as long, of which a third is in no record, from a switch out on or
 * from a switch in.
 */
static void what_lost_records_had_of_running_is_running(void **state)
{
	(void)state;
	for (int is_out = 0; is_out < 2; is_out++) {
		struct wall_sched sched = { .slices = 1 };
		struct wall_thread thread;
		uint64_t now = 1000 * MS;

		begin(&thread, WALL_QUEUES);
		wall_thread_switch_in(&thread, &rows, now);
		for (int i = 0; i < 900; i++) {
			now += 100 * US;
			sched.run_ns += 100 * US;
			sched.slices++;
			if (i < 300 + is_out || i >= 600)
				wall_thread_switch_out(&thread, &rows, now, false);
			wall_thread_take_read(&thread, &in_io, GAP);
			now += 100 * US;
			if (i < 300 || i >= 600)
				wall_thread_switch_in(&thread, &rows, now);
			if (i < 300 && i % 100 == 0)
				wall_thread_settle(&thread, &rows, &sched);
		}
		wall_thread_switch_out(&thread, &rows, now, false);
		for (int i = 0; i < 100 && !wall_thread_settle(&thread, &rows, &sched); i++)
			continue;
		end(&thread, now);
		assert_in_range(by_state[WAIT_STATE_RUNNING], 89 * MS, 91 * MS);
		assert_in_range(by_state[WAIT_STATE_IO], 89 * MS, 91 * MS);
	}
}

static void samples_stand_for_no_more_than_was_run(void **state)
{
	struct wall_thread thread;

	(void)state;
	begin(&thread, WALL_RUNS);
	assert_int_equal(wall_thread_claim(&thread, 10 * MS, 1012 * MS), 10 * MS);
	assert_int_equal(wall_thread_claim(&thread, 10 * MS, 1012 * MS), 2 * MS);
	wall_thread_switch_out(&thread, &rows, 1015 * MS, false);
	assert_int_equal(wall_thread_claim(&thread, 10 * MS, 1020 * MS), 3 * MS);
	wall_thread_end(&thread, &rows, 1020 * MS);
	wall_thread_close(&thread, &rows);
	assert_int_equal(sum(), 5 * MS);
}

static void a_thread_that_was_thought_to_wait_ran(void **state)
{
	struct wall_thread thread;

	(void)state;
	begin(&thread, WALL_WAITS);
	thread.is_guessed = true;
	wall_thread_switch_out(&thread, &rows, 1004 * MS, false);
	end(&thread, 1005 * MS);
	assert_int_equal(by_state[WAIT_STATE_RUNNING], 4 * MS);
}

/* From its beginning on schedstat serves. */
static void begin_coarse(struct wall_thread *thread, const struct wall_sched *sched)
{
	begin(thread, WALL_RUNS);
	wall_thread_begin_coarse(thread, &rows, sched, 1000 * MS);
}

/* schedstat alone, at ticks: 6 of 10 ms it waits, 3 it runs, 1 it wants a CPU. */
static void without_switches_schedstat_makes_the_life(void **state)
{
	struct wall_thread thread;
	struct wall_sched sched = { .run_ns = 100 * MS };
	uint64_t now = 1000 * MS;

	(void)state;
	begin_coarse(&thread, &sched);
	for (int i = 0; i < 100; i++) {
		now += 10 * MS;
		sched.run_ns += 3 * MS;
		sched.delay_ns += MS;
		sched.slices++;
		/* At 6 of 10 ticks it waits. */
		wall_thread_look(&thread, &rows, &sched,
				 i % 5 < 2   ? NULL
				 : i % 5 < 4 ? &in_io
					     : &in_sleep,
				 now);
	}
	end(&thread, now);
	assert_int_equal(by_state[WAIT_STATE_RUNNING], 300 * MS);
	assert_int_equal(by_state[WAIT_STATE_RUNNABLE], 100 * MS);
	assert_true(by_stack[4] >= 380 * MS && by_stack[4] <= 400 * MS);
	assert_true(by_stack[3] >= 180 * MS && by_stack[3] <= 200 * MS);
}

/* One of six ticks has the time to read it: that stands for all six. */
static void without_switches_a_thread_is_read_when_it_is_its_turn(void **state)
{
	struct wall_thread thread;
	struct wall_sched sched = { .run_ns = 100 * MS };
	uint64_t now = 1000 * MS;

	(void)state;
	begin_coarse(&thread, &sched);
	for (int i = 0; i < 120; i++) {
		now += 10 * MS;
		sched.run_ns += 3 * MS;
		sched.slices++;
		if (i % 6 < 5)
			wall_thread_pass(&thread, &sched, now);
		else
			wall_thread_look(&thread, &rows, &sched,
					 i % 12 < 6 ? &in_io : &in_sleep, now);
	}
	end(&thread, now);
	assert_int_equal(by_state[WAIT_STATE_RUNNING], 360 * MS);
	assert_in_range(by_stack[4], 400 * MS, 440 * MS);
	assert_in_range(by_stack[3], 400 * MS, 440 * MS);
}

/* It waits often, and no tick has the time to read it, but for its last wait, which is long. */
static void without_switches_a_long_wait_stands_for_itself(void **state)
{
	struct wall_thread thread;
	struct wall_sched sched = { .run_ns = 100 * MS };
	uint64_t now = 1000 * MS;

	(void)state;
	begin_coarse(&thread, &sched);
	for (int i = 0; i < 10; i++) {
		now += 10 * MS;
		sched.slices++;
		wall_thread_look(&thread, &rows, &sched, &in_io, now);
	}
	for (int i = 0; i < 30; i++) {
		now += 10 * MS;
		sched.slices++;
		wall_thread_pass(&thread, &sched, now);
	}
	for (int i = 0; i < 5; i++) {
		now += 10 * MS;
		wall_thread_look(&thread, &rows, &sched, &in_sleep, now);
	}
	end(&thread, now);
	assert_in_range(by_stack[3], 50 * MS, 60 * MS);
	assert_in_range(by_state[WAIT_STATE_IO], 250 * MS, 400 * MS);
}

/* A thread that ended before any tick came: its waits are like those of its kind of that length. */
static void a_thread_that_was_never_read_is_like_others_of_its_kind(void **state)
{
	struct wall_thread thread;
	struct wall_kind kind = { 0 };

	(void)state;
	begin(&thread, WALL_RUNS);
	thread.kind = &kind;
	wall_thread_switch_out(&thread, &rows, 1001 * MS, false);
	wall_thread_take_read(&thread, &in_sleep, GAP);
	wall_thread_switch_in(&thread, &rows, 1006 * MS);
	wall_thread_switch_out(&thread, &rows, 1007 * MS, false);
	wall_thread_take_read(&thread, &in_io, GAP);
	wall_thread_switch_in(&thread, &rows, 1008 * MS);
	end(&thread, 1010 * MS);
	begin(&thread, WALL_RUNS);
	thread.kind = &kind;
	wall_thread_switch_out(&thread, &rows, 1001 * MS, false);
	wall_thread_switch_in(&thread, &rows, 1006 * MS);
	wall_thread_switch_out(&thread, &rows, 1007 * MS, false);
	wall_thread_switch_in(&thread, &rows, 1008 * MS);
	end(&thread, 1010 * MS);
	assert_int_equal(by_state[WAIT_STATE_SLEEP], 5 * MS);
	assert_int_equal(by_state[WAIT_STATE_IO], 1 * MS);
	assert_int_equal(by_state[WAIT_STATE_SYSCALL], 0);
}

/*
 * A thread of the kind waits for a lock for lock_ns and sleeps for 3 ms, once; a tick comes tick_ns
 * after its beginning.
 */
static void live_shortly(struct wall_kind *kind, uint64_t lock_ns, uint64_t tick_ns)
{
	static const struct wall_read in_lock = { .has_stack = true,
						  .state = WAIT_STATE_LOCK,
						  .stack = 5 };
	struct wall_thread thread = { .row = 1, .kind = kind };

	wall_thread_begin(&thread, WALL_RUNS, 1000 * MS);
	if (lock_ns > 0) {
		wall_thread_switch_out(&thread, &rows, 1000 * MS, false);
		if (tick_ns < lock_ns)
			wall_thread_take_read(&thread, &in_lock, GAP);
		wall_thread_switch_in(&thread, &rows, 1000 * MS + lock_ns);
	}
	wall_thread_switch_out(&thread, &rows, 1000 * MS + lock_ns, false);
	if (tick_ns >= lock_ns && tick_ns < lock_ns + 3 * MS)
		wall_thread_take_read(&thread, &in_sleep, GAP);
	wall_thread_switch_in(&thread, &rows, 1003 * MS + lock_ns);
	wall_thread_end(&thread, &rows, 1003 * MS + lock_ns);
	wall_thread_close(&thread, &rows);
}

/* One of four waits for a lock first: what reads stand for and these lives lack, others have. */
static void short_lives_have_the_states_of_all_together(void **state)
{
	struct wall_kind kind = { 0 };
	struct wall_thread unused;

	(void)state;
	begin(&unused, WALL_RUNS);
	for (uint64_t tick_ns = 0; tick_ns < 1000 * GAP; tick_ns += 3700 * US) {
		for (int i = 0; i < 4; i++)
			live_shortly(&kind, i == 0 ? 3 * MS : 0, tick_ns % GAP);
	}
	/* 3 of 15 ms. */
	assert_in_range(by_state[WAIT_STATE_LOCK] * 1000 / sum(), 190, 210);
}

/* Many short reads of a file, and one long wait at the end of its life. */
static void time_at_the_beginning_of_waits_is_like_most_of_them(void **state)
{
	struct wall_thread thread;

	(void)state;
	begin(&thread, WALL_RUNS);
	thread.shorts[2].by_state[WAIT_STATE_IO] = 40 * MS;
	thread.shorts[WALL_LENGTHS - 1].by_state[WAIT_STATE_WAIT] = 80 * MS;
	thread.met = WAIT_STATE_WAIT;
	thread.falls_asleep_ns = 10 * MS;
	wall_thread_end(&thread, &rows, 1000 * MS);
	wall_thread_close(&thread, &rows);
	assert_true(by_state[WAIT_STATE_IO] > 9 * MS);
	assert_int_equal(sum(), 10 * MS);
}

/* Preempted again and again on its way to a wait, before one was read. */
static void time_before_the_first_read_is_like_what_is_read_then(void **state)
{
	struct wall_thread thread;

	(void)state;
	begin(&thread, WALL_RUNS);
	thread.falls_asleep_ns = 900 * MS;
	wall_thread_book(&thread, &rows, 1000 * MS);
	assert_int_equal(sum(), 0);
	wall_thread_switch_out(&thread, &rows, 1000 * MS, false);
	wall_thread_take_read(&thread, &in_io, GAP);
	wall_thread_switch_in(&thread, &rows, 1020 * MS);
	wall_thread_end(&thread, &rows, 1020 * MS);
	wall_thread_close(&thread, &rows);
	assert_int_equal(by_state[WAIT_STATE_IO], 920 * MS);
	assert_int_equal(sum(), 920 * MS);
}

/* All of its waits of 25 ms were read, and none of 1 ms, whose states are known of others. */
static void a_thread_that_was_read_often_is_like_itself(void **state)
{
	struct wall_thread thread;
	struct wall_kind kind = { 0 };
	uint64_t now_ns = 1000 * MS;

	(void)state;
	for (int i = 0; i < 8; i++)
		kind.by_state[i][WAIT_STATE_IO] = 50 * MS;
	begin(&thread, WALL_RUNS);
	thread.kind = &kind;
	for (int i = 0; i < 30; i++) {
		wall_thread_switch_out(&thread, &rows, now_ns, false);
		wall_thread_take_read(&thread, &in_sleep, GAP);
		wall_thread_switch_in(&thread, &rows, now_ns += 25 * MS);
		wall_thread_settle(&thread, &rows, NULL);
	}
	wall_thread_switch_out(&thread, &rows, now_ns, false);
	wall_thread_switch_in(&thread, &rows, now_ns += 1 * MS);
	end(&thread, now_ns);
	assert_int_equal(by_state[WAIT_STATE_SLEEP], 751 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_wait_has_its_stack_for_all_of_it),
		cmocka_unit_test(rows_of_waits_end_when_these_did),
		cmocka_unit_test(a_long_wait_is_in_rows_before_it_ends),
		cmocka_unit_test(short_waits_that_were_met_stand_for_ticks),
		cmocka_unit_test(waits_of_one_length_lose_no_time_to_those_of_another),
		cmocka_unit_test(reads_of_one_length_share_its_time),
		cmocka_unit_test(a_long_wait_that_was_missed_is_like_those_of_its_length),
		cmocka_unit_test(waits_without_a_read_have_their_time_and_no_stack),
		cmocka_unit_test(a_state_that_was_read_in_a_later_wait_is_not_the_ended_ones),
		cmocka_unit_test(what_preempted_threads_and_new_ones_wait_for_is_a_cpu),
		cmocka_unit_test(a_wakes_delay_is_no_waiting),
		cmocka_unit_test(each_wait_gives_its_delay),
		cmocka_unit_test(each_state_gives_its_own_delay),
		cmocka_unit_test(usual_lengths_are_more_exact_than_a_factor_of_two),
		cmocka_unit_test(waits_of_unusual_length_give_what_was_runnable),
		cmocka_unit_test(what_a_switch_takes_is_running),
		cmocka_unit_test(what_a_preemption_takes_is_running),
		cmocka_unit_test(a_preemption_that_schedstat_does_not_count_is_waiting),
		cmocka_unit_test(figures_ahead_of_records_are_of_the_same_queueing),
		cmocka_unit_test(figures_behind_later_switches_are_left_for_the_next_tick),
		cmocka_unit_test(a_lost_switch_ends_no_settling),
		cmocka_unit_test(what_lost_records_had_of_running_is_running),
		cmocka_unit_test(samples_stand_for_no_more_than_was_run),
		cmocka_unit_test(a_thread_that_was_thought_to_wait_ran),
		cmocka_unit_test(without_switches_schedstat_makes_the_life),
		cmocka_unit_test(without_switches_a_thread_is_read_when_it_is_its_turn),
		cmocka_unit_test(without_switches_a_long_wait_stands_for_itself),
		cmocka_unit_test(a_thread_that_was_never_read_is_like_others_of_its_kind),
		cmocka_unit_test(short_lives_have_the_states_of_all_together),
		cmocka_unit_test(time_before_the_first_read_is_like_what_is_read_then),
		cmocka_unit_test(a_thread_that_was_read_often_is_like_itself),
		cmocka_unit_test(time_at_the_beginning_of_waits_is_like_most_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
