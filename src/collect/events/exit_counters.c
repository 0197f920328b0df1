#include "collect/events/exit_counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"
#include "collect/events/perf_ring.h"

/*
 * Holds 1,638 records of ended threads between two reads.  Three such rings and the sideband's
 * are within kernel.perf_event_mlock_kb.  Smaller rings are tried, too.
 */
#define RING_PAGES 16
/*
 * Each fork copies the event of each CPU: on larger machines that would cost more than it
 * saves.
 */
#define MOST_CPUS 64
/*
 * A thread's records come at its end, all at once: a record that much older is of an earlier
 * thread with the same tid.
 */
#define APART_NS 1000000000ULL

struct cpu_counter {
	int fd;
	struct perf_ring ring; /* with page NULL: it could not be mapped */
};

/*
 * The high half of a key in `ends`: the CPU time, the number of records, the time of the last
 * one.
 */
enum end_part { END_NS, END_RECORDS, END_LAST_NS };

struct exit_counters {
	struct cpu_counter *cpus;
	uint32_t count;
	bool is_stopped;
	struct table ends; /* key: end_part and tid */
};

/* struct perf_record_read of an event with one value, followed by what sample_id_all adds. */
struct read_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t value;
	uint32_t id_pid, id_tid;
	uint64_t time_ns;
};

static int open_counter(pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.inherit = 1,
		.inherit_stat = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	const int fd =
		(int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

struct exit_counters *exit_counters_open(pid_t pid)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct exit_counters *counters;

	if (cpus > MOST_CPUS)
		return NULL;
	counters = xzalloc(sizeof *counters);
	counters->cpus = xreallocarray(NULL, (size_t)cpus, sizeof *counters->cpus);
	for (int cpu = 0; cpu < cpus; cpu++) {
		const int fd = open_counter(pid, cpu);

		if (fd == -ENODEV) /* an offline CPU */
			continue;
		if (fd < 0) {
			exit_counters_close(counters);
			return NULL;
		}
		struct cpu_counter *counter = &counters->cpus[counters->count++];

		*counter = (struct cpu_counter){ .fd = fd };
		if (perf_ring_map(&counter->ring, fd, RING_PAGES) < 0) {
			exit_counters_close(counters);
			return NULL;
		}
	}
	return counters;
}

static void close_events(struct exit_counters *counters)
{
	for (uint32_t i = 0; i < counters->count && !counters->is_stopped; i++) {
		perf_ring_unmap(&counters->cpus[i].ring);
		close(counters->cpus[i].fd);
	}
	counters->is_stopped = true;
}

void exit_counters_close(struct exit_counters *counters)
{
	if (counters == NULL)
		return;
	close_events(counters);
	free(counters->cpus);
	table_done(&counters->ends);
	free(counters);
}

static uint64_t *part_of(struct exit_counters *counters, enum end_part part, pid_t tid)
{
	return table_at(&counters->ends, part, (uint32_t)tid, NULL);
}

static void forget(struct exit_counters *counters, pid_t tid)
{
	table_remove(&counters->ends, END_NS, (uint32_t)tid);
	table_remove(&counters->ends, END_RECORDS, (uint32_t)tid);
	table_remove(&counters->ends, END_LAST_NS, (uint32_t)tid);
}

static void take_record(void *context, const struct perf_event_header *header)
{
	struct exit_counters *counters = context;
	struct read_record record;

	if (header->type != PERF_RECORD_READ || header->size != sizeof record)
		return;
	memcpy(&record, header, sizeof record);
	const pid_t tid = (pid_t)record.tid;
	const uint64_t last_ns = *part_of(counters, END_LAST_NS, tid);

	if (record.time_ns > last_ns + APART_NS)
		forget(counters, tid);
	*part_of(counters, END_LAST_NS, tid) = record.time_ns;
	*part_of(counters, END_NS, tid) += record.value;
	++*part_of(counters, END_RECORDS, tid);
}

void exit_counters_read(struct exit_counters *counters)
{
	for (uint32_t i = 0; i < counters->count && !counters->is_stopped; i++)
		perf_ring_read(&counters->cpus[i].ring, take_record, counters);
}

void exit_counters_stop(struct exit_counters *counters)
{
	exit_counters_read(counters);
	close_events(counters);
}

bool exit_counters_is_stopped(const struct exit_counters *counters)
{
	return counters->is_stopped;
}

bool exit_counters_take(struct exit_counters *counters, pid_t tid, uint64_t *out_ns)
{
	uint64_t records;

	if (!table_get(&counters->ends, END_RECORDS, (uint32_t)tid, &records) ||
	    records < counters->count)
		return false;
	*out_ns = *part_of(counters, END_NS, tid);
	forget(counters, tid);
	return true;
}
