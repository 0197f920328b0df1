#include "collect/sideband.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/monotonic.h"

/* kernel.perf_event_mlock_kb is 516 by default: 128 pages and one.  Less is tried, too. */
static const size_t ring_pages[] = { 128, 64, 16, 4, 1 };

#define MISC_EXEC     PERF_RECORD_MISC_COMM_EXEC
#define MISC_BUILD_ID (1U << 14) /* PERF_RECORD_MISC_MMAP_BUILD_ID, Linux >= 5.12 */

struct cpu_ring {
	int fd;
	struct perf_event_mmap_page *page; /* and the data behind it */
	size_t map_bytes;
	uint64_t data_bytes;
};

/* A record copied out of a ring, waiting for its turn. */
struct held_record {
	uint64_t time_ns;
	uint64_t serial; /* keeps the order of records of one moment */
	struct perf_event_header *record;
};

struct sideband {
	struct cpu_ring *rings;
	size_t ring_count;
	struct held_record *held;
	size_t held_count, held_capacity;
	uint64_t serial;
	uint64_t dropped;
	size_t page_bytes;
};

static int sideband_open_event(pid_t pid, int cpu, bool with_build_ids)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.inherit = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.build_id = with_build_ids,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int cpu_ring_map(struct cpu_ring *ring, size_t page_bytes)
{
	for (size_t i = 0; i < sizeof ring_pages / sizeof ring_pages[0]; i++) {
		size_t bytes = (1 + ring_pages[i]) * page_bytes;
		void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);

		if (map == MAP_FAILED)
			continue;
		ring->page = map;
		ring->map_bytes = bytes;
		ring->data_bytes = ring_pages[i] * page_bytes;
		return 0;
	}
	return -errno;
}

static int cpu_ring_open(struct cpu_ring *ring, pid_t pid, int cpu, size_t page_bytes)
{
	ring->fd = sideband_open_event(pid, cpu, true);
	if (ring->fd == -EINVAL) /* before Linux 5.12 */
		ring->fd = sideband_open_event(pid, cpu, false);
	if (ring->fd < 0)
		return ring->fd;
	return cpu_ring_map(ring, page_bytes);
}

int sideband_open(pid_t pid, struct sideband **out_sideband, struct error *err)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct sideband *sideband = xzalloc(sizeof *sideband);

	sideband->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	sideband->rings = xreallocarray(NULL, (size_t)cpus, sizeof *sideband->rings);
	for (int cpu = 0; cpu < cpus; cpu++) {
		struct cpu_ring *ring = &sideband->rings[sideband->ring_count];

		*ring = (struct cpu_ring){ .fd = -1 };
		int rc = cpu_ring_open(ring, pid, cpu, sideband->page_bytes);

		if (rc == -ENODEV) /* an offline CPU */
			continue;
		sideband->ring_count++;
		if (rc < 0) {
			sideband_close(sideband);
			return error_errno(err, rc,
					   "cannot watch the processes of pid %d on CPU %d",
					   pid, cpu);
		}
	}
	*out_sideband = sideband;
	return 0;
}

void sideband_close(struct sideband *sideband)
{
	if (sideband == NULL)
		return;
	for (size_t i = 0; i < sideband->ring_count; i++) {
		if (sideband->rings[i].page != NULL)
			munmap(sideband->rings[i].page, sideband->rings[i].map_bytes);
		if (sideband->rings[i].fd >= 0)
			close(sideband->rings[i].fd);
	}
	for (size_t i = 0; i < sideband->held_count; i++)
		free(sideband->held[i].record);
	free(sideband->held);
	free(sideband->rings);
	free(sideband);
}

static void ring_copy(const struct cpu_ring *ring, uint64_t position, void *to, size_t len)
{
	const char *data = (const char *)ring->page + ring->page->data_offset;
	uint64_t at = position % ring->data_bytes;
	size_t first = len < ring->data_bytes - at ? len : (size_t)(ring->data_bytes - at);

	memcpy(to, data + at, first);
	memcpy((char *)to + first, data, len - first);
}

/* sample_id_all puts pid, tid and time at the end of every record. */
static uint64_t record_time(const struct perf_event_header *record)
{
	uint64_t time;

	if (record->size < sizeof *record + sizeof time)
		return 0;
	memcpy(&time, (const char *)record + record->size - sizeof time, sizeof time);
	return time;
}

static void sideband_hold(struct sideband *sideband, const struct cpu_ring *ring,
			  uint64_t position, uint16_t size)
{
	struct perf_event_header *record = xmalloc(size);

	ring_copy(ring, position, record, size);
	if (record->type == PERF_RECORD_LOST) {
		uint64_t lost[2] = { 0 };

		if (size >= sizeof *record + sizeof lost)
			memcpy(lost, record + 1, sizeof lost);
		sideband->dropped += lost[1];
		free(record);
		return;
	}
	sideband->held = array_grow(sideband->held, sideband->held_count,
				    &sideband->held_capacity, sizeof *sideband->held);
	sideband->held[sideband->held_count++] =
		(struct held_record){ record_time(record), sideband->serial++, record };
}

static void sideband_read_ring(struct sideband *sideband, struct cpu_ring *ring)
{
	/* Pairs with the kernel's barrier before it moves data_head. */
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;

	while (tail < head) {
		struct perf_event_header header;

		ring_copy(ring, tail, &header, sizeof header);
		if (header.size < sizeof header || header.size > head - tail)
			break;
		sideband_hold(sideband, ring, tail, header.size);
		tail += header.size;
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

static int compare_held(const void *a, const void *b)
{
	const struct held_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static bool parse_task(struct bytes *b, struct sideband_event *event)
{
	event->pid = (int)bytes_u32(b);
	event->parent_pid = (int)bytes_u32(b);
	event->tid = (int)bytes_u32(b);
	event->parent_tid = (int)bytes_u32(b);
	return true;
}

static bool parse_name(struct bytes *b, struct sideband_event *event)
{
	event->kind = SIDEBAND_NAME;
	event->pid = (int)bytes_u32(b);
	event->tid = (int)bytes_u32(b);
	event->name = bytes_string(b);
	return event->name != NULL;
}

static bool parse_map(struct bytes *b, bool has_build_id, struct sideband_event *event)
{
	event->kind = SIDEBAND_MAP;
	event->pid = (int)bytes_u32(b);
	event->tid = (int)bytes_u32(b);
	event->start = bytes_u64(b);
	event->end = event->start + bytes_u64(b);
	event->file_offset = bytes_u64(b);

	/* A device and an inode, or the build id and its length (perf_event.h, MMAP2). */
	const uint8_t *identity = bytes_take(b, 24);

	if (identity != NULL && has_build_id && identity[0] <= sizeof event->build_id) {
		event->build_id_len = identity[0];
		memcpy(event->build_id, identity + 4, event->build_id_len);
	}
	bytes_u64(b); /* protection and flags */
	event->name = bytes_string(b);
	return event->name != NULL;
}

static bool parse_record(const struct perf_event_header *record, struct sideband_event *event)
{
	struct bytes b = bytes_of(record + 1, record->size - sizeof *record);

	*event = (struct sideband_event){ .time_ns = record_time(record) };
	switch (record->type) {
	case PERF_RECORD_FORK:
		event->kind = SIDEBAND_FORK;
		return parse_task(&b, event) && !b.short_read;
	case PERF_RECORD_EXIT:
		event->kind = SIDEBAND_EXIT;
		return parse_task(&b, event) && !b.short_read;
	case PERF_RECORD_COMM:
		event->is_exec = record->misc & MISC_EXEC;
		return parse_name(&b, event) && !b.short_read;
	case PERF_RECORD_MMAP2:
		return parse_map(&b, record->misc & MISC_BUILD_ID, event) && !b.short_read;
	default:
		return false;
	}
}

uint64_t sideband_drain(struct sideband *sideband,
			void (*visit)(void *context, const struct sideband_event *event),
			void *context)
{
	const uint64_t until_ns = monotonic_ns();
	const uint64_t dropped_before = sideband->dropped;
	size_t visited = 0;

	for (size_t i = 0; i < sideband->ring_count; i++)
		sideband_read_ring(sideband, &sideband->rings[i]);
	if (sideband->held_count > 1)
		qsort(sideband->held, sideband->held_count, sizeof *sideband->held,
		      compare_held);
	for (; visited < sideband->held_count; visited++) {
		struct held_record *held = &sideband->held[visited];
		struct sideband_event event;

		if (held->time_ns > until_ns)
			break;
		if (parse_record(held->record, &event))
			visit(context, &event);
		free(held->record);
	}
	if (visited > 0) {
		sideband->held_count -= visited;
		memmove(sideband->held, sideband->held + visited,
			sideband->held_count * sizeof *sideband->held);
	}
	return sideband->dropped - dropped_before;
}
