/* perf_ring - maps and reads the ring buffer of one perf event. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_header;
struct perf_event_mmap_page;

struct perf_ring {
	struct perf_event_mmap_page *page; /* followed by the data; NULL: it is not mapped */
	size_t map_bytes;
	uint64_t data_bytes;
	uint8_t *joined; /* scratch for a record that the ring's end cuts in two */
};

/*
 * Maps the ring of fd: with most_pages, a power of two, or with fewer, where locked memory is
 * scarce.  0 or -errno; *out_ring then is not mapped.
 */
int perf_ring_map(struct perf_ring *out_ring, int fd, size_t most_pages);
/* The same with exactly this number of pages. */
int perf_ring_map_exactly(struct perf_ring *out_ring, int fd, size_t pages);
void perf_ring_unmap(struct perf_ring *ring);
/* Whether the kernel has written anything since the last read. */
bool perf_ring_has_unread(const struct perf_ring *ring);
/*
 * Visits the complete records, oldest first, and frees their space.  A record is valid during
 * its visit only.  Returns how full the ring was, in percent.
 */
unsigned int perf_ring_read(struct perf_ring *ring,
			    void (*visit)(void *context,
					  const struct perf_event_header *record),
			    void *context);
/*
 * The same one record at a time: perf_ring_head() is how far the kernel has written;
 * perf_ring_peek() gives the oldest record before that, or NULL, valid until perf_ring_pass()
 * frees its space.
 */
uint64_t perf_ring_head(const struct perf_ring *ring);
const struct perf_event_header *perf_ring_peek(const struct perf_ring *ring, uint64_t head);
/* How full the ring is up to head, in percent. */
unsigned int perf_ring_used(const struct perf_ring *ring, uint64_t head);
void perf_ring_pass(struct perf_ring *ring, const struct perf_event_header *record);
