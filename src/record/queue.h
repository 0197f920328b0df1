/*
 * queue - passes bytes from a caller to a thread, which the queue starts and ends.
 *
 * Chunks are taken in the order in which they were pushed. Pushing never waits: the caller
 * limits the amount, by queue_bytes(). One thread pushes and ends the queue; the queue's own
 * thread takes the chunks, and blocks all signals.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue;

struct queue_chunk {
	struct queue_chunk *next; /* for the queue's use */
	size_t len, capacity;     /* in bytes */
	uint8_t *bytes;
};

/* With space for capacity bytes; freed by queue_chunk_free() or queue_push(). */
struct queue_chunk *queue_chunk_new(size_t capacity);
void queue_chunk_free(struct queue_chunk *chunk);

/*
 * Starts the thread, which calls take() with each chunk's bytes. NULL if no thread can be
 * created.
 */
struct queue *queue_start(void (*take)(void *context, const uint8_t *bytes, size_t len),
			  void *context);
/* Takes chunk. */
void queue_push(struct queue *queue, struct queue_chunk *chunk);
/* Bytes pushed and not yet processed, including the chunk in process. */
size_t queue_bytes(const struct queue *queue);
/*
 * Waits until all chunks are processed, at most timeout_ms (negative: without limit); returns
 * whether they are.
 */
bool queue_wait(struct queue *queue, int timeout_ms);
/* Waits until all chunks are processed, ends the thread and frees the queue. Accepts NULL. */
void queue_end(struct queue *queue);
