#include "collect/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"

/* A record's size has 16 bits. */
#define RECORD_MAX 65536

int perf_ring_map(struct perf_ring *out_ring, int fd, size_t most_pages)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	*out_ring = (struct perf_ring){ .page = NULL };
	for (size_t pages = most_pages; pages > 0; pages /= 2) {
		const size_t bytes = (1 + pages) * page_bytes;
		void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (map == MAP_FAILED)
			continue;
		*out_ring = (struct perf_ring){ .page = map,
						.map_bytes = bytes,
						.data_bytes = pages * page_bytes,
						.joined = xmalloc(RECORD_MAX) };
		return 0;
	}
	return -errno;
}

void perf_ring_unmap(struct perf_ring *ring)
{
	if (ring->page != NULL)
		munmap(ring->page, ring->map_bytes);
	free(ring->joined);
	*ring = (struct perf_ring){ .page = NULL };
}

/* The len bytes at position: where they stand, or joined. */
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

unsigned int perf_ring_read(struct perf_ring *ring,
			    void (*visit)(void *context,
					  const struct perf_event_header *record),
			    void *context)
{
	/* Pairs with the kernel's barrier before it moves data_head. */
	const uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	const uint64_t begin = ring->page->data_tail;
	uint64_t tail = begin;

	while (tail < head) {
		/* Records are whole words, so a header is never cut in two. */
		const struct perf_event_header *header = bytes_at(ring, tail, sizeof *header);
		const uint16_t size = header->size;

		if (size < sizeof *header || size > head - tail)
			break;
		visit(context, bytes_at(ring, tail, size));
		tail += size;
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
	return (unsigned int)((head - begin) * 100 / ring->data_bytes);
}
