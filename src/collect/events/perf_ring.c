#include "collect/events/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"

/* A record's size has 16 bits. */
#define RECORD_MAX 65536

int perf_ring_map_exactly(struct perf_ring *out_ring, int fd, size_t pages)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	const size_t bytes = (1 + pages) * page_bytes;
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	*out_ring = (struct perf_ring){ .page = NULL };
	if (map == MAP_FAILED)
		return -errno;
	*out_ring = (struct perf_ring){ .page = map,
					.map_bytes = bytes,
					.data_bytes = pages * page_bytes,
					.joined = xmalloc(RECORD_MAX) };
	return 0;
}

int perf_ring_map(struct perf_ring *out_ring, int fd, size_t most_pages)
{
	int rc = -EINVAL;

	for (size_t pages = most_pages; rc < 0 && pages > 0; pages /= 2)
		rc = perf_ring_map_exactly(out_ring, fd, pages);
	return rc;
}

void perf_ring_unmap(struct perf_ring *ring)
{
	if (ring->page != NULL)
		munmap(ring->page, ring->map_bytes);
	free(ring->joined);
	*ring = (struct perf_ring){ .page = NULL };
}

/*
 * The len bytes at position: in the ring itself, or copied to ring->joined if the ring's end
 * cuts them in two.
 */
static const void *bytes_at(const struct perf_ring *ring, uint64_t position, size_t len)
{
	const uint8_t *data = (const uint8_t *)ring->page + ring->page->data_offset;
	const uint64_t at = position & (ring->data_bytes - 1);
	const size_t first = (size_t)(ring->data_bytes - at);

	if (len <= first)
		return data + at;
	memcpy(ring->joined, data + at, first);
	memcpy(ring->joined + first, data, len - first);
	return ring->joined;
}

bool perf_ring_has_unread(const struct perf_ring *ring)
{
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_RELAXED) !=
	       ring->page->data_tail;
}

uint64_t perf_ring_head(const struct perf_ring *ring)
{
	/* Pairs with the kernel's barrier before it moves data_head. */
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

const struct perf_event_header *perf_ring_peek(const struct perf_ring *ring, uint64_t head)
{
	const uint64_t tail = ring->page->data_tail;

	if (tail >= head)
		return NULL;
	/* Records are multiples of 8 bytes, so a header is never cut in two. */
	const struct perf_event_header *header = bytes_at(ring, tail, sizeof *header);
	const uint16_t size = header->size;

	if (size < sizeof *header || size > head - tail)
		return NULL;
	return bytes_at(ring, tail, size);
}

unsigned int perf_ring_used(const struct perf_ring *ring, uint64_t head)
{
	return (unsigned int)((head - ring->page->data_tail) * 100 / ring->data_bytes);
}

void perf_ring_pass(struct perf_ring *ring, const struct perf_event_header *record)
{
	__atomic_store_n(&ring->page->data_tail, ring->page->data_tail + record->size,
			 __ATOMIC_RELEASE);
}

unsigned int perf_ring_read(struct perf_ring *ring,
			    void (*visit)(void *context,
					  const struct perf_event_header *record),
			    void *context)
{
	const uint64_t head = perf_ring_head(ring);
	const unsigned int used = perf_ring_used(ring, head);
	const struct perf_event_header *record;

	while ((record = perf_ring_peek(ring, head)) != NULL) {
		visit(context, record);
		perf_ring_pass(ring, record);
	}
	return used;
}
