#include "collect/events/copied_events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "collect/events/copied_format.h"
#include "collect/events/perf_events.h"
#include "collect/system/thread_scan.h"

/*
 * A CPU's ring: 16 MiB on small machines, if the limit on locked memory allows; 128 KiB hold
 * seven samples.
 */
#define RING_PAGES_MOST  4096
#define ALL_PAGES_MOST   32768
#define RING_PAGES_LEAST 32
/* The reader is woken when an eighth of a ring is full. */
#define WAKE_PART 8
/*
 * A record's size has 16 bits, and the cost of a copy grows with its size.  Of the Go
 * compiler's stacks 28 % are deeper than 16 KiB, and 1 % deeper than 32.  A ring with room for
 * fewer than SAMPLES_IN_RING of the deeper copies gets 16 KiB.
 */
#define STACK_BYTES       32768U
#define STACK_BYTES_LEAST 16384U
#define SAMPLES_IN_RING   32

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	attr->size = sizeof *attr;
	const int fd =
		(int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_owner(int cpu, size_t pages)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(pages * 4096 / WAKE_PART),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return open_event(&attr, 0, cpu);
}

static struct perf_event_attr sampling(const struct copied_terms *terms, uint32_t stack_bytes,
				       enum copied_reach reach)
{
	const bool has_kernel = !terms->is_user_mode_only;
	const bool from_exec = reach == COPIED_FROM_EXEC || reach == COPIED_THREADS_FROM_EXEC;

	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = terms->period_ns,
		.sample_type = COPIED_SAMPLE_TYPE | (has_kernel ? PERF_SAMPLE_CALLCHAIN : 0),
		.exclude_callchain_user = has_kernel,
		.sample_regs_user = STACK_COPY_MASK,
		.sample_stack_user = stack_bytes,
		.inherit = 1,
		.inherit_thread = reach == COPIED_THREADS || reach == COPIED_THREADS_FROM_EXEC,
		.disabled = 1,
		.enable_on_exec = from_exec,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.exclude_kernel = !has_kernel,
		.exclude_hv = 1,
	};
}

/*
 * Opens a ring of this size on each CPU.  After an error the caller closes those that were
 * opened.
 */
static int open_rings(struct copied_rings *rings, size_t pages)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);

	*rings = (struct copied_rings){
		.stack_bytes = pages * 4096 >= (size_t)STACK_BYTES * SAMPLES_IN_RING
				       ? STACK_BYTES
				       : STACK_BYTES_LEAST,
		.poll_fd = epoll_create1(EPOLL_CLOEXEC),
	};
	if (rings->poll_fd < 0)
		return -errno;
	rings->rings = xzalloc((size_t)cpus * sizeof *rings->rings);
	rings->owners = xreallocarray(NULL, (size_t)cpus, sizeof *rings->owners);
	for (int cpu = 0; cpu < cpus; cpu++) {
		struct epoll_event event = { .events = EPOLLIN };
		const int fd = rings->owners[rings->count++] = open_owner(cpu, pages);

		if (fd == -ENODEV || fd == -EINVAL) /* an offline CPU */
			continue;
		if (fd < 0)
			return fd;
		const int rc = perf_ring_map_exactly(&rings->rings[cpu], fd, pages);

		if (rc < 0)
			return rc;
		epoll_ctl(rings->poll_fd, EPOLL_CTL_ADD, fd, &event);
	}
	return 0;
}

int copied_rings_open(struct copied_rings *out_rings, struct error *err)
{
	const size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_CONF);
	size_t most = RING_PAGES_MOST;
	int rc = -ENOMEM;

	while (most > RING_PAGES_LEAST && most * cpus > ALL_PAGES_MOST)
		most /= 2;
	for (size_t pages = most; pages >= RING_PAGES_LEAST; pages /= 2) {
		rc = open_rings(out_rings, pages);
		if (rc == 0)
			return 0;
		copied_rings_close(out_rings);
		if (rc != -EPERM && rc != -ENOMEM)
			break;
	}
	return error_errno(err, rc,
			   "cannot map memory for copied stacks; ulimit -l, the locked "
			   "memory, may be too low");
}

void copied_rings_close(struct copied_rings *rings)
{
	for (size_t i = 0; i < rings->count; i++) {
		perf_ring_unmap(&rings->rings[i]);
		if (rings->owners[i] >= 0)
			close(rings->owners[i]);
	}
	free(rings->rings);
	free(rings->owners);
	closep(&rings->poll_fd);
	*rings = (struct copied_rings){ .poll_fd = -1 };
}

struct opening {
	const struct copied_rings *rings;
	struct perf_event_attr attr;
	struct copied_events *events;
	uint32_t turn;
};

/* Opens the event that samples the thread on one CPU and writes into that CPU's ring. */
static int open_on_cpu(struct opening *opening, pid_t tid, size_t cpu)
{
	struct thread_events *events = &opening->events->events;
	const int owner = opening->rings->owners[cpu];

	if (owner < 0)
		return 0;
	const int fd = open_event(&opening->attr, tid, (int)cpu);
	uint64_t id = 0;

	if (fd < 0)
		return fd;
	events->fds =
		array_grow(events->fds, events->count, &events->capacity, sizeof *events->fds);
	events->fds[events->count++] = fd;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, owner) < 0 ||
	    ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0)
		return -errno;
	*table_at(&opening->events->turns, 0, id, NULL) = opening->turn;
	return 0;
}

static int open_on_thread(void *context, pid_t tid)
{
	struct opening *opening = context;
	int rc = 0;

	opening->turn++;
	for (size_t cpu = 0; rc == 0 && cpu < opening->rings->count; cpu++)
		rc = open_on_cpu(opening, tid, cpu);
	return rc;
}

int copied_events_open(const struct copied_rings *rings, const struct copied_terms *terms,
		       pid_t pid, enum copied_reach reach, struct copied_events **out_events)
{
	struct opening opening = { .rings = rings,
				   .attr = sampling(terms, rings->stack_bytes, reach),
				   .events = xzalloc(sizeof *opening.events) };

	opening.events->holders = 1;
	const int rc = thread_scan(pid, open_on_thread, &opening);

	if (rc < 0) {
		copied_events_release(opening.events);
		return rc;
	}
	/*
	 * All are switched on at once at the end: nothing reads the rings while events are
	 * opened, which may take long.
	 */
	if (reach == COPIED_THREADS || reach == COPIED_DESCENDANTS)
		thread_events_switch(&opening.events->events, 1);
	*out_events = opening.events;
	return 0;
}

struct copied_events *copied_events_hold(struct copied_events *events)
{
	if (events != NULL)
		events->holders++;
	return events;
}

void copied_events_release(struct copied_events *events)
{
	if (events == NULL || --events->holders > 0)
		return;
	thread_events_close(&events->events);
	table_done(&events->turns);
	free(events);
}

uint32_t copied_events_turn(const struct copied_events *events, uint64_t id)
{
	uint64_t turn = 0;

	table_get(&events->turns, 0, id, &turn);
	return (uint32_t)turn;
}

static int try_event(pid_t pid, bool is_user_mode_only)
{
	const struct copied_terms terms = { .period_ns = 1000000000,
					    .is_user_mode_only = is_user_mode_only };
	struct perf_event_attr attr = sampling(&terms, STACK_BYTES_LEAST, COPIED_DESCENDANTS);
	int fd = open_event(&attr, pid, 0);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

int copied_events_judge(pid_t pid, bool is_user_clock, struct perf_ability *ability)
{
	int rc = is_user_clock ? -EACCES : try_event(pid, false);

	ability->can_see_kernel = rc == 0;
	if (rc < 0)
		rc = try_event(pid, true);
	if (rc < 0) {
		perf_ability_explain(ability, rc);
		return rc;
	}
	ability->can_sigtrap = ability->has_kernel_ticks = false;
	ability->can_count = ability->is_copied = true;
	snprintf(ability->why, sizeof ability->why,
		 "the kernel copies registers and the top of the stack, which are unwound from "
		 "outside: nothing is put into the program%s",
		 ability->can_see_kernel || is_user_clock
			 ? ""
			 : "; system time is not sampled (kernel.perf_event_paranoid 1, or "
			   "CAP_PERFMON, allows it)");
	return 0;
}
