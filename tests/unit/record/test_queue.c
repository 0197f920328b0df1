/* Chunks come out in their order, in a thread of their own; run under ThreadSanitizer too. */
#include "record/queue.h"

#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define CHUNKS 5000

struct taken {
	uint32_t count;
	uint64_t bytes;
	bool is_out_of_order, has_open_signals;
	sem_t *gate; /* NULL: none is waited for */
};

static void take(void *context, const uint8_t *bytes, size_t len)
{
	struct taken *taken = context;
	uint32_t number;
	sigset_t blocked;

	if (taken->gate != NULL)
		sem_wait(taken->gate);
	memcpy(&number, bytes, sizeof number);
	taken->is_out_of_order |= number != taken->count++;
	taken->bytes += len;
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	taken->has_open_signals |= sigismember(&blocked, SIGTERM) == 0;
}

static size_t push(struct queue *queue, uint32_t number)
{
	const size_t len = sizeof number + number % 100;
	struct queue_chunk *chunk = queue_chunk_new(len);

	memset(chunk->bytes, 0, len);
	memcpy(chunk->bytes, &number, sizeof number);
	chunk->len = len;
	queue_push(queue, chunk);
	return len;
}

static void chunks_are_taken_in_their_order(void **state)
{
	struct taken taken = { .gate = NULL };
	struct queue *queue = queue_start(take, &taken);
	uint64_t bytes = 0;

	(void)state;
	assert_non_null(queue);
	for (uint32_t i = 0; i < CHUNKS; i++)
		bytes += push(queue, i);
	queue_end(queue);
	assert_int_equal(taken.count, CHUNKS);
	assert_int_equal(taken.bytes, bytes);
	assert_false(taken.is_out_of_order);
	assert_false(taken.has_open_signals);
}

static void what_waits_is_counted_until_it_was_taken(void **state)
{
	sem_t gate;
	struct taken taken = { .gate = &gate };

	(void)state;
	sem_init(&gate, 0, 0);
	struct queue *queue = queue_start(take, &taken);
	const size_t bytes = push(queue, 0) + push(queue, 1);

	assert_int_equal(queue_bytes(queue), bytes);
	assert_false(queue_wait(queue, 1));
	sem_post(&gate);
	sem_post(&gate);
	assert_true(queue_wait(queue, -1));
	assert_int_equal(queue_bytes(queue), 0);
	assert_int_equal(taken.count, 2);
	queue_end(queue);
	sem_destroy(&gate);
}

static void waiting_sees_what_the_thread_has_written(void **state)
{
	struct taken taken = { .gate = NULL };
	struct queue *queue = queue_start(take, &taken);

	(void)state;
	for (uint32_t i = 0; i < 200; i++) {
		push(queue, i);
		assert_true(queue_wait(queue, -1));
		assert_int_equal(taken.count, i + 1);
	}
	queue_end(queue);
}

static void an_empty_queue_ends_at_once(void **state)
{
	struct taken taken = { .gate = NULL };

	(void)state;
	queue_end(queue_start(take, &taken));
	queue_end(NULL);
	assert_int_equal(taken.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunks_are_taken_in_their_order),
		cmocka_unit_test(what_waits_is_counted_until_it_was_taken),
		cmocka_unit_test(waiting_sees_what_the_thread_has_written),
		cmocka_unit_test(an_empty_queue_ends_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
