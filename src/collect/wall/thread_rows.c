/*
 * Rows of a thread's waits: each long wait has its own, short ones are divided by those that
 * were read.
 */
#include "collect/wall/thread_internal.h"

#include <stdbool.h>
#include <stddef.h>

#include "abi/walk_status.h"
#include "collect/wall/thread.h"

void wall_thread_add_row(const struct wall_thread *thread, const struct wall_rows *rows,
			 enum wall_row_kind kind, uint8_t state, uint64_t ns, uint64_t time_ns)
{
	if (ns > 0)
		rows->add(rows->context, &(struct wall_row){ .kind = kind,
							     .state = state,
							     .ending = WALK_NO_SAMPLE,
							     .thread = thread->row,
							     .time_ns = time_ns,
							     .ns = ns });
}

void wall_thread_add_read(const struct wall_thread *thread, const struct wall_rows *rows,
			  const struct wall_read *read, uint64_t ns, uint64_t time_ns)
{
	if (!read->has_stack)
		wall_thread_add_row(thread, rows, WALL_ROW_SHORT, read->state, ns, time_ns);
	else if (ns > 0)
		rows->add(rows->context, &(struct wall_row){ .kind = WALL_ROW_STACK,
							     .state = read->state,
							     .ending = read->ending,
							     .thread = thread->row,
							     .stack = read->stack,
							     .time_ns = time_ns,
							     .ns = ns });
}

uint8_t wall_thread_length_of(uint64_t ns)
{
	uint8_t length = 0;

	for (uint64_t most_ns = WALL_LENGTH_LEAST; ns >= most_ns && length < WALL_LENGTHS - 1;
	     most_ns *= 2)
		length++;
	return length;
}

static bool is_same(const struct wall_credit *a, const struct wall_read *b, uint8_t length)
{
	return a->length == length && a->read.has_stack == b->has_stack &&
	       a->read.state == b->state && a->read.stack == b->stack &&
	       a->read.ending == b->ending;
}

void wall_thread_add_credit(struct wall_thread *thread, const struct wall_read *read,
			    uint8_t length, uint64_t ns, uint64_t end_ns)
{
	for (uint32_t i = 0; i < thread->credit_count; i++) {
		if (is_same(&thread->credits[i], read, length)) {
			thread->credits[i].ns += ns;
			thread->credits[i].end_ns = end_ns;
			return;
		}
	}
	if (thread->credit_count < WALL_CREDITS)
		thread->credits[thread->credit_count++] = (struct wall_credit){
			.read = *read, .length = length, .ns = ns, .end_ns = end_ns
		};
}

void wall_thread_grant(struct wall_thread *thread, const struct wall_rows *rows)
{
	uint64_t due_ns[WALL_LENGTHS] = { 0 }, has_ns[WALL_LENGTHS];
	uint32_t left = 0;

	for (uint32_t i = 0; i < thread->credit_count; i++)
		due_ns[thread->credits[i].length] += thread->credits[i].ns;
	for (int i = 0; i < WALL_LENGTHS; i++)
		has_ns[i] = thread->shorts[i].ns;
	for (uint32_t i = 0; i < thread->credit_count; i++) {
		struct wall_credit *credit = &thread->credits[i];
		struct wall_short *of = &thread->shorts[credit->length];
		const double part =
			(double)has_ns[credit->length] / (double)due_ns[credit->length];
		const uint64_t ns = at_most(
			part < 1 ? (uint64_t)((double)credit->ns * part) : credit->ns, of->ns);

		wall_thread_add_read(thread, rows, &credit->read, ns, credit->end_ns);
		of->by_state[credit->read.state % WAIT_STATE_COUNT] += ns;
		of->ns -= ns;
		credit->ns -= ns;
		if (credit->ns > 0)
			thread->credits[left++] = *credit;
	}
	thread->credit_count = left;
}

static uint64_t sum_of(const uint64_t by_state[WAIT_STATE_COUNT])
{
	uint64_t sum = 0;

	for (int i = 0; i < WAIT_STATE_COUNT; i++)
		sum += by_state[i];
	return sum;
}

/* The states of the waits of that length; NULL: none was read. */
static const uint64_t *read_at(const struct wall_thread *thread, int length)
{
	const uint64_t *own;

	if (length < 0 || length >= WALL_LENGTHS)
		return NULL;
	own = thread->shorts[length].by_state;
	return sum_of(own) > 0 ? own : NULL;
}

static const uint64_t *due_of_kind(const struct wall_thread *thread, int length)
{
	return thread->kind != NULL && sum_of(thread->kind->due[length]) > 0
		       ? thread->kind->due[length]
		       : NULL;
}

static const uint64_t *read_of_kind(const struct wall_thread *thread, int length)
{
	const uint64_t *of_kind;

	if (thread->kind == NULL || length < 0 || length >= WALL_LENGTHS)
		return NULL;
	of_kind = thread->kind->by_state[length];
	return sum_of(of_kind) > 0 ? of_kind : NULL;
}

typedef const uint64_t *read_fn(const struct wall_thread *thread, int length);

/* Those of the nearest length. */
static const uint64_t *nearest(const struct wall_thread *thread, int length, read_fn *read)
{
	const uint64_t *met = NULL;

	for (int off = 0; met == NULL && off < WALL_LENGTHS; off++) {
		met = read(thread, length - off);
		if (met == NULL)
			met = read(thread, length + off);
	}
	return met;
}

/* From so many of its own waits on, a thread is like itself rather than like others. */
#define WELL_READ 16

static bool is_well_read(const struct wall_thread *thread)
{
	uint64_t ns = 0;

	for (int i = 0; i < WALL_LENGTHS; i++)
		ns += sum_of(thread->shorts[i].by_state);
	return ns > WELL_READ * thread->gap_ns;
}

/*
 * The waits that were read and are most like those of this length: what is due to those of its
 * kind, unless enough of its own were read, else its own, else those of its kind; then those of the
 * nearest length. NULL: none was read.
 */
static const uint64_t *read_like(const struct wall_thread *thread, int length)
{
	const bool is_like_others = !is_well_read(thread);
	const uint64_t *met = is_like_others ? due_of_kind(thread, length) : NULL;

	if (met == NULL)
		met = read_at(thread, length);
	if (met == NULL && is_like_others)
		met = read_of_kind(thread, length);
	if (met == NULL)
		met = nearest(thread, length, read_at);
	return met != NULL ? met : nearest(thread, length, read_of_kind);
}

static uint8_t most_of(const uint64_t by_state[WAIT_STATE_COUNT])
{
	uint8_t most = 0;

	for (uint8_t i = 1; i < WAIT_STATE_COUNT; i++)
		most = by_state[i] > by_state[most] ? i : most;
	return most;
}

/* Divides time without a stack by states; met: NULL if none is known. */
static void book_by_state(const struct wall_thread *thread, const struct wall_rows *rows,
			  const uint64_t *met, uint64_t ns, uint64_t time_ns)
{
	const double met_ns = met ? (double)sum_of(met) : 1;
	uint64_t left_ns = ns;

	for (uint8_t i = 0; i < WAIT_STATE_COUNT && met; i++) {
		const uint64_t part_ns =
			at_most((uint64_t)((double)ns * (double)met[i] / met_ns), left_ns);

		wall_thread_add_row(thread, rows, WALL_ROW_SHORT, i, part_ns, time_ns);
		left_ns -= part_ns;
	}
	wall_thread_add_row(thread, rows, WALL_ROW_SHORT,
			    met ? most_of(met) : WAIT_STATE_SYSCALL, left_ns, time_ns);
}

static void book_length(struct wall_thread *thread, const struct wall_rows *rows, int length,
			uint64_t ns, uint64_t time_ns)
{
	thread->shorts[length].ns -= ns;
	book_by_state(thread, rows, read_like(thread, length), ns, time_ns);
}

void wall_thread_book_begins(const struct wall_thread *thread, const struct wall_rows *rows,
			     uint64_t ns, uint64_t time_ns)
{
	uint64_t waits[WAIT_STATE_COUNT] = { 0 };

	for (int i = 0; i < WALL_LENGTHS; i++) {
		for (int j = 0; j < WAIT_STATE_COUNT; j++)
			waits[j] += thread->shorts[i].by_state[j] >> i;
	}
	if (sum_of(waits) == 0)
		waits[thread->met % WAIT_STATE_COUNT] = 1;
	book_by_state(thread, rows, waits, ns, time_ns);
}

void wall_thread_add_to_kind(const struct wall_thread *thread)
{
	for (int i = 0; i < WALL_LENGTHS && thread->kind != NULL; i++) {
		for (int j = 0; j < WAIT_STATE_COUNT; j++)
			thread->kind->by_state[i][j] += thread->shorts[i].by_state[j];
	}
	for (uint32_t i = 0; i < thread->credit_count && thread->kind != NULL; i++) {
		const struct wall_credit *credit = &thread->credits[i];

		thread->kind->due[credit->length][credit->read.state % WAIT_STATE_COUNT] +=
			credit->ns;
	}
}

void wall_thread_book_short(struct wall_thread *thread, const struct wall_rows *rows,
			    uint64_t keep_ns, uint64_t time_ns)
{
	for (int i = 0; i < WALL_LENGTHS; i++) {
		const uint64_t ns = thread->shorts[i].ns;

		if (keep_ns == 0 || (ns > 2 * keep_ns && nearest(thread, i, read_at) != NULL))
			book_length(thread, rows, i, above(ns, keep_ns), time_ns);
	}
}
