/*
 * perf_ring - the mapped ring of one perf event, for its reader.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_header;
struct perf_event_mmap_page;

struct perf_ring {
	struct perf_event_mmap_page *page; /* and the data behind it; NULL: it is not mapped */
	size_t map_bytes;
	uint64_t data_bytes;
	uint8_t *joined; /* where a record goes that the ring's end cuts in two */
};

/*
 * Maps the ring of fd: with most_pages, a power of two, or with fewer, where locked memory is
 * scarce.  0 or -errno; *out_ring then is not mapped.
 */
int perf_ring_map(struct perf_ring *out_ring, int fd, size_t most_pages);
/* With so many, or not. */
int perf_ring_map_exactly(struct perf_ring *out_ring, int fd, size_t pages);
void perf_ring_unmap(struct perf_ring *ring);
/* Whether the kernel has written anything since it was read. */
bool perf_ring_has_unread(const struct perf_ring *ring);
/*
 * Visits the records that are whole, oldest first, and makes room.  A record lives during its
 * visit.  Returns how many bytes there were, in percent of the ring.
 */
unsigned int perf_ring_read(struct perf_ring *ring,
			    void (*visit)(void *context,
					  const struct perf_event_header *record),
			    void *context);
/*
 * One record at a time: how far the kernel has written by now; the oldest record before that, or
 * NULL, which lives until it is passed; and room for as much.
 */
uint64_t perf_ring_head(const struct perf_ring *ring);
const struct perf_event_header *perf_ring_peek(const struct perf_ring *ring, uint64_t head);
/* Up to there it is full, in percent. */
unsigned int perf_ring_used(const struct perf_ring *ring, uint64_t head);
void perf_ring_pass(struct perf_ring *ring, const struct perf_event_header *record);
