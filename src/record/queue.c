#include "record/queue.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"

struct queue {
	void (*take)(void *context, const uint8_t *bytes, size_t len);
	void *context;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t filled, emptied;
	/* Protected by the mutex. */
	struct queue_chunk *first, *last;
	bool is_ending;
	/* Written under the mutex, read without it: a slightly outdated value does no harm. */
	atomic_size_t bytes;
};

struct queue_chunk *queue_chunk_new(size_t capacity)
{
	struct queue_chunk *chunk = xmalloc(sizeof *chunk);

	*chunk = (struct queue_chunk){ .bytes = xmalloc(capacity), .capacity = capacity };
	return chunk;
}

void queue_chunk_free(struct queue_chunk *chunk)
{
	if (chunk == NULL)
		return;
	free(chunk->bytes);
	free(chunk);
}

/* Waits for the next chunk; NULL at the end. The mutex is held. */
static struct queue_chunk *queue_next(struct queue *queue)
{
	while (queue->first == NULL && !queue->is_ending)
		pthread_cond_wait(&queue->filled, &queue->mutex);
	struct queue_chunk *chunk = queue->first;

	if (chunk != NULL)
		queue->first = chunk->next;
	if (queue->first == NULL)
		queue->last = NULL;
	return chunk;
}

static void *queue_run(void *argument)
{
	struct queue *queue = argument;
	struct queue_chunk *chunk;

	pthread_mutex_lock(&queue->mutex);
	while ((chunk = queue_next(queue)) != NULL) {
		const size_t len = chunk->len;

		pthread_mutex_unlock(&queue->mutex);
		queue->take(queue->context, chunk->bytes, len);
		queue_chunk_free(chunk);
		pthread_mutex_lock(&queue->mutex);
		atomic_fetch_sub_explicit(&queue->bytes, len, memory_order_relaxed);
		if (queue->first == NULL)
			pthread_cond_broadcast(&queue->emptied);
	}
	pthread_mutex_unlock(&queue->mutex);
	return NULL;
}

/* A new thread inherits the mask of its creator: block all signals meanwhile. */
static int queue_start_thread(struct queue *queue)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const int rc = pthread_create(&queue->thread, NULL, queue_run, queue);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static void queue_free(struct queue *queue)
{
	pthread_cond_destroy(&queue->filled);
	pthread_cond_destroy(&queue->emptied);
	pthread_mutex_destroy(&queue->mutex);
	free(queue);
}

struct queue *queue_start(void (*take)(void *context, const uint8_t *bytes, size_t len),
			  void *context)
{
	struct queue *queue = xzalloc(sizeof *queue);
	pthread_condattr_t monotonic;

	queue->take = take;
	queue->context = context;
	pthread_mutex_init(&queue->mutex, NULL);
	pthread_cond_init(&queue->filled, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&queue->emptied, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (queue_start_thread(queue) == 0)
		return queue;
	queue_free(queue);
	return NULL;
}

void queue_push(struct queue *queue, struct queue_chunk *chunk)
{
	chunk->next = NULL;
	pthread_mutex_lock(&queue->mutex);
	if (queue->last != NULL)
		queue->last->next = chunk;
	else
		queue->first = chunk;
	queue->last = chunk;
	atomic_fetch_add_explicit(&queue->bytes, chunk->len, memory_order_relaxed);
	pthread_cond_signal(&queue->filled);
	pthread_mutex_unlock(&queue->mutex);
}

size_t queue_bytes(const struct queue *queue)
{
	return atomic_load_explicit(&queue->bytes, memory_order_relaxed);
}

static struct timespec from_now(int ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return until;
}

bool queue_wait(struct queue *queue, int timeout_ms)
{
	const struct timespec until = from_now(timeout_ms > 0 ? timeout_ms : 0);
	int rc = 0;

	pthread_mutex_lock(&queue->mutex);
	while (queue_bytes(queue) > 0 && rc == 0)
		rc = timeout_ms < 0
			     ? pthread_cond_wait(&queue->emptied, &queue->mutex)
			     : pthread_cond_timedwait(&queue->emptied, &queue->mutex, &until);
	const bool is_empty = queue_bytes(queue) == 0;

	pthread_mutex_unlock(&queue->mutex);
	return is_empty;
}

void queue_end(struct queue *queue)
{
	if (queue == NULL)
		return;
	pthread_mutex_lock(&queue->mutex);
	queue->is_ending = true;
	pthread_cond_signal(&queue->filled);
	pthread_mutex_unlock(&queue->mutex);
	pthread_join(queue->thread, NULL);
	queue_free(queue);
}
