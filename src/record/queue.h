/*
 * queue - bytes on their way from one thread to another, which the queue starts and ends.
 *
 * Chunks are taken in the order in which they were pushed.  Pushing never waits: how much is
 * too much is the caller's to say, by queue_bytes().  One thread pushes and ends the queue; the
 * other one is the queue's own, and blocks all signals.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue;

struct queue_chunk {
	struct queue_chunk *next; /* the queue's */
	size_t len, capacity;     /* in bytes */
	uint8_t *bytes;
};

/* Room for capacity bytes; queue_chunk_free() or queue_push() takes it. */
struct queue_chunk *queue_chunk_new(size_t capacity);
void queue_chunk_free(struct queue_chunk *chunk);

/*
 * Starts the thread that calls take() with each chunk's bytes.  NULL if there can be no more
 * threads.
 */
struct queue *queue_start(void (*take)(void *context, const uint8_t *bytes, size_t len),
			  void *context);
/* Takes chunk. */
void queue_push(struct queue *queue, struct queue_chunk *chunk);
/* What was pushed and is not yet dealt with, the chunk that is being taken among it. */
size_t queue_bytes(const struct queue *queue);
/* Waits until all was taken, for timeout_ms at most (negative: without end); whether it was. */
bool queue_wait(struct queue *queue, int timeout_ms);
/* Waits until all was taken, ends the thread and frees the queue.  NULL is none. */
void queue_end(struct queue *queue);
