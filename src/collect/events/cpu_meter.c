#include "collect/events/cpu_meter.h"

#include <time.h>

#include "collect/events/perf_events.h"
#include "collect/system/process_stat.h"

#define NS_PER_SECOND  1000000000ULL
#define CPUCLOCK_SCHED 2U /* kernel, include/linux/posix-timers_types.h */

uint64_t cpu_meter_process_ns(pid_t pid)
{
	/*
	 * The clock id that clock_getcpuclockid() returns, without its system call to validate
	 * it.
	 */
	const clockid_t clock = (clockid_t)(~(unsigned int)pid << 3 | CPUCLOCK_SCHED);
	struct timespec now;

	if (clock_gettime(clock, &now) < 0)
		return 0;
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static uint64_t meter_clock_ns(const struct cpu_meter *meter)
{
	return meter->is_user_clock ? process_user_ns(meter->pid)
				    : cpu_meter_process_ns(meter->pid);
}

static int open_on(void *context, pid_t tid)
{
	(void)context;
	return perf_open_image_counter(tid);
}

void cpu_meter_begin(struct cpu_meter *meter, pid_t pid, bool has_counters, bool is_user_clock)
{
	*meter = (struct cpu_meter){ .pid = pid, .is_user_clock = is_user_clock };
	if (has_counters && !is_user_clock)
		thread_events_open(&meter->counters, pid, open_on, NULL);
	if (meter->counters.count == 0)
		meter->begin_ns = meter_clock_ns(meter);
}

uint64_t cpu_meter_read(struct cpu_meter *meter)
{
	const uint64_t now_ns = meter->counters.count > 0 ? thread_events_read(&meter->counters)
							  : meter_clock_ns(meter);

	if (now_ns > meter->begin_ns && now_ns - meter->begin_ns > meter->read_ns)
		meter->read_ns = now_ns - meter->begin_ns;
	return meter->read_ns;
}

void cpu_meter_end(struct cpu_meter *meter)
{
	thread_events_close(&meter->counters);
}
