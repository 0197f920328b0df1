#include "collect/wall/thread.h"

#include <stddef.h>

#include "collect/wall/thread_internal.h"

/* Short waits of so many ticks get no row yet: they are kept for later reads. */
#define KEPT_GAPS 64
/* Without reports of switches the lengths of waits are not known: all are put together. */
#define COARSE_LENGTH 0
/* A long wait that goes on gets a row when it has grown by this, and by an eighth. */
#define BOOK_NS 1000000000ULL
/* When schedstat has another count of switches so often in a row, a record was lost. */
#define MISSES_MOST 16

void wall_thread_begin(struct wall_thread *thread, enum wall_place place, uint64_t time_ns)
{
	thread->start_ns = thread->since_ns = thread->booked_ns = time_ns;
	thread->end_ns = UINT64_MAX;
	thread->place = place;
	thread->sched_fd = -1;
	thread->met = WAIT_STATE_SYSCALL;
	/* A new thread's schedstat begins with zeros. */
	thread->has_sched = thread->has_run = place == WALL_QUEUES;
}

/* Ends its present place. */
static void end_place(struct wall_thread *thread, const struct wall_rows *rows,
		      uint64_t time_ns)
{
	const uint64_t ns = above(time_ns, thread->since_ns);

	if (thread->place == WALL_RUNS) {
		thread->running_ns += ns;
		thread->new_running_ns += ns;
	} else if (thread->place == WALL_QUEUES) {
		thread->queued_ns += ns;
		thread->new_queued_ns += ns;
	} else {
		wall_thread_end_wait(thread, rows, time_ns);
	}
}

static void begin_place(struct wall_thread *thread, enum wall_place place, uint64_t time_ns)
{
	/* Records of two CPUs may be a little out of order. */
	if (time_ns < thread->since_ns)
		time_ns = thread->since_ns;
	thread->place = place;
	thread->since_ns = thread->booked_ns = time_ns;
	thread->is_guessed = false;
	thread->is_touched = true;
	thread->serial++;
}

void wall_thread_switch_out(struct wall_thread *thread, const struct wall_rows *rows,
			    uint64_t time_ns, bool is_preempted)
{
	if (thread->is_coarse || thread->end_ns != UINT64_MAX)
		return;
	/* It was running, whatever was guessed. */
	if (thread->is_guessed && thread->place != WALL_RUNS) {
		thread->place = WALL_RUNS;
		thread->is_read = false;
	}
	if (thread->place == WALL_RUNS) {
		end_place(thread, rows, time_ns);
		begin_place(thread, is_preempted ? WALL_QUEUES : WALL_WAITS, time_ns);
	}
}

void wall_thread_switch_in(struct wall_thread *thread, const struct wall_rows *rows,
			   uint64_t time_ns)
{
	thread->switches_in++;
	if (thread->is_coarse || thread->end_ns != UINT64_MAX || thread->place == WALL_RUNS)
		return;
	end_place(thread, rows, time_ns);
	begin_place(thread, WALL_RUNS, time_ns);
}

void wall_thread_take_read(struct wall_thread *thread, const struct wall_read *read,
			   uint64_t gap_ns)
{
	thread->met = read->state;
	thread->is_read = true;
	thread->read = *read;
	thread->gap_ns = gap_ns;
}

void wall_thread_take_state(struct wall_thread *thread, const struct wall_rows *rows,
			    uint8_t state, uint64_t gap_ns, uint64_t met_ns)
{
	const struct wall_read met = { .state = state };

	if (met_ns > thread->last_end_ns ||
	    met_ns + thread->last_unread_ns < thread->last_end_ns)
		return;
	thread->met = state;
	wall_thread_read_last(thread, rows, &met, gap_ns);
}

/* Moves what is due to running and queueing out of waits. */
static void correct(struct wall_thread *thread)
{
	const uint64_t back = at_most(thread->falls_asleep_ns, thread->due_queued_ns);

	/* This makes up for waits that cannot give, since they are in rows. */
	thread->falls_asleep_ns -= back;
	thread->due_queued_ns -= back;
	thread->queued_ns += back;

	const uint64_t taken =
		wall_thread_take(thread, thread->due_running_ns, thread->due_queued_ns);
	const uint64_t queued = at_most(taken, thread->due_queued_ns);

	thread->queued_ns += queued;
	thread->due_queued_ns -= queued;
	thread->running_ns += taken - queued;
	thread->due_running_ns -= taken - queued;
}

/*
 * Records were lost: where the last one before them switched the thread out, what it ran since
 * seems to be waiting, and where it switched it in, what it waited seems to be running.
 */
static void compare_lost(struct wall_thread *thread, const struct wall_sched *sched,
			 uint64_t run_ns)
{
	const uint64_t lost = 1 + sched->slices - thread->sched.slices - thread->switches_in;
	const uint64_t waited_ns = at_most(above(thread->new_running_ns, run_ns),
					   above(thread->running_ns, thread->claimed_ns));

	thread->due_running_ns += above(run_ns, thread->new_running_ns);
	thread->running_ns -= waited_ns;
	thread->shorts[wall_thread_length_of(waited_ns / lost)].ns += waited_ns;
}

/*
 * Finds what is due by the difference between schedstat and records; is_exact: both have the
 * same switches.
 */
static void compare(struct wall_thread *thread, const struct wall_sched *sched, bool is_exact)
{
	const uint64_t delay_ns = above(sched->delay_ns, thread->sched.delay_ns);
	const uint64_t run_ns = above(sched->run_ns, thread->sched.run_ns);
	uint64_t less_queued =
		at_most(above(thread->new_queued_ns, delay_ns), thread->queued_ns);

	/*
	 * schedstat may have been ahead of the records: these now have what no wait could give.
	 */
	const uint64_t ahead_ns = at_most(less_queued, thread->due_queued_ns);

	thread->due_queued_ns -= ahead_ns;
	less_queued -= ahead_ns;
	thread->due_queued_ns += above(delay_ns, thread->new_queued_ns);
	if (!is_exact) {
		if (sched->slices - thread->sched.slices >= thread->switches_in) {
			if (thread->place != WALL_RUNS && thread->has_run)
				compare_lost(thread, sched, run_ns);
			return;
		}
		/*
		 * Preempted on its way to sleep, a thread is not queued for schedstat: it
		 * waits.
		 */
		thread->queued_ns -= less_queued;
		thread->falls_asleep_ns += less_queued;
		return;
	}
	if (thread->place == WALL_RUNS || !thread->has_run)
		return;
	thread->due_running_ns += above(run_ns, thread->new_running_ns);
	/* The switches of a preempted thread are part of its queueing. */
	less_queued = at_most(less_queued, thread->due_running_ns);
	thread->queued_ns -= less_queued;
	thread->due_running_ns -= less_queued;
	thread->running_ns += less_queued;
}

static void take_sched(struct wall_thread *thread, const struct wall_sched *sched)
{
	const uint64_t run_ns = thread->sched.run_ns;

	thread->has_sched = true;
	thread->sched = *sched;
	thread->switches_in = thread->new_queued_ns = thread->misses = 0;
	if (thread->place == WALL_RUNS) {
		/* The figure may or may not include part of the present run. */
		thread->sched.run_ns = run_ns;
		return;
	}
	thread->has_run = true;
	thread->new_running_ns = 0;
}

bool wall_thread_settle(struct wall_thread *thread, const struct wall_rows *rows,
			const struct wall_sched *sched)
{
	const bool has_both = sched != NULL && thread->has_sched;
	const bool is_exact =
		has_both && sched->slices - thread->sched.slices == thread->switches_in;

	if (has_both && !is_exact && thread->misses++ < MISSES_MOST)
		return false;
	if (has_both)
		compare(thread, sched, is_exact);
	if (sched != NULL)
		take_sched(thread, sched);
	correct(thread);
	wall_thread_book_ended(thread, rows);
	wall_thread_grant(thread, rows);
	thread->wakeups = 0;
	thread->is_touched = false;
	return true;
}

static void book_falling_asleep(struct wall_thread *thread, const struct wall_rows *rows,
				uint64_t time_ns)
{
	wall_thread_book_begins(thread, rows, thread->falls_asleep_ns, time_ns);
	thread->falls_asleep_ns = 0;
}

void wall_thread_book(struct wall_thread *thread, const struct wall_rows *rows, uint64_t now_ns)
{
	const uint64_t kept_ns = KEPT_GAPS * thread->gap_ns;

	if (thread->queued_ns > BOOK_NS / 2) {
		wall_thread_add_row(thread, rows, WALL_ROW_QUEUE, WAIT_STATE_RUNNABLE,
				    thread->queued_ns, now_ns);
		thread->queued_ns = 0;
	}
	/* As long as none of its waits was read, their states are not known. */
	if (thread->gap_ns > 0 && thread->falls_asleep_ns > BOOK_NS / 2)
		book_falling_asleep(thread, rows, now_ns);
	if (thread->gap_ns > 0 && thread->credit_count == 0)
		wall_thread_book_short(thread, rows, kept_ns, now_ns);
	if (thread->is_coarse || thread->place != WALL_WAITS || !thread->is_read ||
	    now_ns < thread->booked_ns + BOOK_NS ||
	    now_ns - thread->booked_ns < (now_ns - thread->since_ns) / 8)
		return;
	wall_thread_add_read(thread, rows, &thread->read, now_ns - thread->booked_ns, now_ns);
	thread->booked_ns = now_ns;
}

static uint64_t ran_ns(const struct wall_thread *thread, uint64_t now_ns)
{
	uint64_t ns = thread->running_ns;

	if (!thread->is_coarse && thread->place == WALL_RUNS && thread->end_ns == UINT64_MAX)
		ns += above(now_ns, thread->since_ns);
	return ns;
}

uint64_t wall_thread_claim(struct wall_thread *thread, uint64_t ns, uint64_t now_ns)
{
	const uint64_t most_ns = above(ran_ns(thread, now_ns), thread->claimed_ns);

	ns = at_most(ns, most_ns);
	thread->claimed_ns += ns;
	return ns;
}

void wall_thread_end(struct wall_thread *thread, const struct wall_rows *rows, uint64_t time_ns)
{
	if (thread->end_ns != UINT64_MAX)
		return;
	if (time_ns < thread->since_ns)
		time_ns = thread->since_ns;
	if (!thread->is_coarse)
		end_place(thread, rows, time_ns);
	thread->end_ns = time_ns;
}

/* Its last figures are of its last tick: the unknown rest counts as waiting. */
static void end_coarse(struct wall_thread *thread)
{
	const uint64_t life_ns = above(thread->end_ns, thread->coarse_ns);
	const uint64_t ran = thread->running_ns - thread->coarse_running_ns;

	thread->shorts[COARSE_LENGTH].ns +=
		above(life_ns, ran + thread->delayed_ns + thread->waited_ns);
}

void wall_thread_close(struct wall_thread *thread, const struct wall_rows *rows)
{
	if (thread->is_coarse)
		end_coarse(thread);
	wall_thread_settle(thread, rows, NULL);
	wall_thread_add_to_kind(thread);
	wall_thread_book_short(thread, rows, 0, thread->end_ns);
	book_falling_asleep(thread, rows, thread->end_ns);
	wall_thread_add_row(thread, rows, WALL_ROW_QUEUE, WAIT_STATE_RUNNABLE,
			    thread->queued_ns, thread->end_ns);
	wall_thread_add_row(thread, rows, WALL_ROW_UNSAMPLED, WAIT_STATE_RUNNING,
			    above(thread->running_ns, thread->claimed_ns), thread->end_ns);
}

void wall_thread_begin_coarse(struct wall_thread *thread, const struct wall_rows *rows,
			      const struct wall_sched *sched, uint64_t now_ns)
{
	if (thread->is_coarse)
		return;
	if (now_ns < thread->since_ns)
		now_ns = thread->since_ns;
	end_place(thread, rows, now_ns);
	wall_thread_settle(thread, rows, NULL);
	thread->is_coarse = true;
	thread->since_ns = thread->booked_ns = thread->coarse_ns = thread->turn_ns = now_ns;
	thread->coarse_running_ns = thread->running_ns;
	thread->coarse_sched = thread->sched = *sched;
	thread->waited_ns = thread->delayed_ns = 0;
}

/* Divides the time since its last look; waits: at this moment. */
static void account_coarse(struct wall_thread *thread, const struct wall_sched *sched,
			   bool waits, uint64_t now_ns)
{
	const bool was_switched = sched->slices != thread->sched.slices;
	const uint64_t life_ns = above(now_ns, thread->coarse_ns);
	/* For a running thread schedstat is up to a tick late: no figure may decrease. */
	const uint64_t room_ns = above(life_ns, thread->waited_ns + thread->delayed_ns);
	const uint64_t ran =
		at_most(above(sched->run_ns, thread->coarse_sched.run_ns), room_ns);
	const uint64_t delay_ns = above(sched->delay_ns, thread->coarse_sched.delay_ns);
	const uint64_t queued =
		at_most(above(delay_ns, thread->delayed_ns), above(room_ns, ran));
	const uint64_t waited = above(room_ns, ran + queued);

	if (thread->coarse_running_ns + ran > thread->running_ns)
		thread->running_ns = thread->coarse_running_ns + ran;
	thread->delayed_ns += queued;
	thread->queued_ns += queued;
	if (was_switched)
		thread->rest_ns = now_ns - above(now_ns, thread->since_ns) / 2;
	/* Otherwise it runs, and the time since its last switch is in no figure yet. */
	if (waits || was_switched) {
		thread->waited_ns += waited;
		thread->shorts[COARSE_LENGTH].ns += waited;
	}
	thread->sched = *sched;
	thread->since_ns = now_ns;
}

void wall_thread_pass(struct wall_thread *thread, const struct wall_sched *sched,
		      uint64_t now_ns)
{
	account_coarse(thread, sched, false, now_ns);
}

void wall_thread_look(struct wall_thread *thread, const struct wall_rows *rows,
		      const struct wall_sched *sched, const struct wall_read *read,
		      uint64_t now_ns)
{
	const bool was_switched = sched->slices != thread->sched.slices;
	/* A wait that went on from look to look was sure to be read: it stands for itself. */
	const uint64_t from_ns = was_switched || thread->rest_ns < thread->turn_ns
					 ? thread->turn_ns
					 : thread->rest_ns;
	const uint64_t gap_ns = above(now_ns, from_ns);

	account_coarse(thread, sched, read != NULL, now_ns);
	thread->turn_ns = now_ns;
	if (read != NULL) {
		thread->met = read->state;
		thread->gap_ns = gap_ns;
		thread->read = *read;
		thread->is_read = true;
		wall_thread_add_credit(thread, read, COARSE_LENGTH, gap_ns, now_ns);
	}
	wall_thread_grant(thread, rows);
}
