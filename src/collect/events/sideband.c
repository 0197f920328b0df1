#include "collect/events/sideband.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "collect/events/perf_ring.h"
#include "collect/events/sideband_event.h"
#include "collect/system/thread_scan.h"

/*
 * kernel.perf_event_mlock_kb is 516 by default: 129 pages for each CPU, of which the three
 * rings of exit_counters.h take 51.
 */
#define RING_PAGES 64

#define MISC_PREEMPTED (1U << 14) /* PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, Linux >= 4.17 */

struct cpu_ring {
	int fd, cpu;
	struct perf_ring ring;
};

/* A record copied out of a ring, until it is visited in order of time. */
struct held_record {
	uint64_t time_ns;
	uint64_t serial;                  /* orders records of the same time */
	struct perf_event_header *record; /* NULL: a context switch (there may be very many): */
	int pid, tid;
	bool is_out, is_preempted;
};

struct sideband {
	bool has_switches;
	struct cpu_ring *rings;
	size_t ring_count;
	int *followers; /* descriptors of sideband_follow()'s events */
	size_t follower_count, follower_capacity;
	struct held_record *held;
	size_t held_count, held_capacity;
	uint64_t serial;
	uint64_t dropped;
	unsigned int fullest; /* of the fullest ring at the last read, in percent */
};

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	attr->size = sizeof *attr;
	const int fd =
		(int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static struct perf_event_attr reporting(bool with_build_ids, bool has_switches)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.inherit = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.context_switch = has_switches,
		.build_id = with_build_ids,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

static int sideband_open_event(pid_t pid, int cpu, bool with_build_ids, bool has_switches)
{
	struct perf_event_attr attr = reporting(with_build_ids, has_switches);

	return open_event(&attr, pid, cpu);
}

int sideband_open_unread(pid_t pid, int cpu)
{
	return sideband_open_event(pid, cpu, false, false);
}

/*
 * An event on the recorder itself that reports nothing: its ring outlives the recorded threads.
 */
static int open_owner(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return open_event(&attr, 0, cpu);
}

/* pid 0: only the ring, owned by an event on the recorder. */
static int cpu_ring_open(struct cpu_ring *ring, pid_t pid, int cpu, bool has_switches)
{
	ring->cpu = cpu;
	ring->fd =
		pid == 0 ? open_owner(cpu) : sideband_open_event(pid, cpu, true, has_switches);
	if (ring->fd == -EINVAL && pid != 0) /* before Linux 5.12 */
		ring->fd = sideband_open_event(pid, cpu, false, has_switches);
	if (ring->fd < 0)
		return ring->fd;
	return perf_ring_map(&ring->ring, ring->fd, RING_PAGES);
}

struct following {
	struct sideband *sideband;
	struct perf_event_attr attr;
};

static int follow_on_cpu(struct following *following, pid_t tid, const struct cpu_ring *ring)
{
	struct sideband *sideband = following->sideband;
	int fd = open_event(&following->attr, tid, ring->cpu);

	if (fd == -EINVAL && following->attr.build_id) { /* before Linux 5.12 */
		following->attr.build_id = 0;
		fd = open_event(&following->attr, tid, ring->cpu);
	}
	if (fd < 0)
		return fd;
	sideband->followers = array_grow(sideband->followers, sideband->follower_count,
					 &sideband->follower_capacity, sizeof fd);
	sideband->followers[sideband->follower_count++] = fd;
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0 ? -errno : 0;
}

static int follow_thread(void *context, pid_t tid)
{
	struct following *following = context;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < following->sideband->ring_count; i++)
		rc = follow_on_cpu(following, tid, &following->sideband->rings[i]);
	return rc;
}

int sideband_follow(struct sideband *sideband, pid_t pid, bool with_children, struct error *err)
{
	struct following following = { .sideband = sideband,
				       .attr = reporting(true, sideband->has_switches) };

	following.attr.inherit_thread = !with_children;
	const int rc = thread_scan(pid, follow_thread, &following);

	return rc < 0 ? error_errno(err, rc, "cannot watch process %d", (int)pid) : 0;
}

int sideband_open_empty(bool has_switches, struct sideband **out_sideband, struct error *err)
{
	return sideband_open(0, has_switches, out_sideband, err);
}

int sideband_open(pid_t pid, bool has_switches, struct sideband **out_sideband,
		  struct error *err)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct sideband *sideband = xzalloc(sizeof *sideband);

	sideband->has_switches = has_switches;
	sideband->rings = xreallocarray(NULL, (size_t)cpus, sizeof *sideband->rings);
	for (int cpu = 0; cpu < cpus; cpu++) {
		struct cpu_ring *ring = &sideband->rings[sideband->ring_count];

		*ring = (struct cpu_ring){ .fd = -1 };
		int rc = cpu_ring_open(ring, pid, cpu, has_switches);

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
		perf_ring_unmap(&sideband->rings[i].ring);
		if (sideband->rings[i].fd >= 0)
			close(sideband->rings[i].fd);
	}
	for (size_t i = 0; i < sideband->follower_count; i++)
		close(sideband->followers[i]);
	for (size_t i = 0; i < sideband->held_count; i++)
		free(sideband->held[i].record);
	free(sideband->held);
	free(sideband->followers);
	free(sideband->rings);
	free(sideband);
}

static struct held_record *hold(struct sideband *sideband, uint64_t time_ns)
{
	sideband->held = array_grow(sideband->held, sideband->held_count,
				    &sideband->held_capacity, sizeof *sideband->held);
	struct held_record *held = &sideband->held[sideband->held_count++];

	*held = (struct held_record){ .time_ns = time_ns, .serial = sideband->serial++ };
	return held;
}

/* After the header a switch record has only the sample_id: pid, tid and time. */
static void hold_switch(struct sideband *sideband, const struct perf_event_header *record)
{
	uint32_t ids[2] = { 0 };
	struct held_record *held = hold(sideband, sideband_event_time(record));

	if (record->size >= sizeof *record + sizeof ids + sizeof(uint64_t))
		memcpy(ids, record + 1, sizeof ids);
	held->pid = (int)ids[0];
	held->tid = (int)ids[1];
	held->is_out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
	held->is_preempted = record->misc & MISC_PREEMPTED;
}

static void sideband_hold(void *context, const struct perf_event_header *record)
{
	struct sideband *sideband = context;

	if (record->type == PERF_RECORD_SWITCH) {
		hold_switch(sideband, record);
		return;
	}

	if (record->type == PERF_RECORD_LOST) {
		uint64_t lost[2] = { 0 };

		if (record->size >= sizeof *record + sizeof lost)
			memcpy(lost, record + 1, sizeof lost);
		sideband->dropped += lost[1];
		return;
	}
	struct perf_event_header *copy = xmalloc(record->size);

	memcpy(copy, record, record->size);
	hold(sideband, sideband_event_time(copy))->record = copy;
}

static int compare_held(const void *a, const void *b)
{
	const struct held_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static bool take_held(const struct held_record *held, struct sideband_event *event)
{
	if (held->record != NULL)
		return sideband_event_parse(held->record, event);
	*event = (struct sideband_event){ .kind = SIDEBAND_SWITCH,
					  .time_ns = held->time_ns,
					  .pid = held->pid,
					  .tid = held->tid,
					  .is_out = held->is_out,
					  .is_preempted = held->is_preempted };
	return held->tid > 0;
}

uint64_t sideband_drain(struct sideband *sideband,
			void (*visit)(void *context, const struct sideband_event *event),
			void *context)
{
	const uint64_t until_ns = monotonic_ns();
	const uint64_t dropped_before = sideband->dropped;
	size_t visited = 0;

	sideband->fullest = 0;
	for (size_t i = 0; i < sideband->ring_count; i++) {
		const unsigned int used =
			perf_ring_read(&sideband->rings[i].ring, sideband_hold, sideband);

		sideband->fullest = used > sideband->fullest ? used : sideband->fullest;
	}
	if (sideband->held_count > 1)
		qsort(sideband->held, sideband->held_count, sizeof *sideband->held,
		      compare_held);
	for (; visited < sideband->held_count; visited++) {
		struct held_record *held = &sideband->held[visited];
		struct sideband_event event;

		if (held->time_ns > until_ns)
			break;
		if (take_held(held, &event))
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

bool sideband_has_unread(const struct sideband *sideband)
{
	for (size_t i = 0; i < sideband->ring_count; i++)
		if (perf_ring_has_unread(&sideband->rings[i].ring))
			return true;
	return false;
}

unsigned int sideband_fullest(const struct sideband *sideband)
{
	return sideband->fullest;
}
