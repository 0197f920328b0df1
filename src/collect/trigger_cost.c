#include "collect/trigger_cost.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <linux/perf_event.h>
#include <time.h>
#include <unistd.h>

#include "collect/in_child.h"
#include "collect/perf_events.h"

/* Twice seven slices of 6 traps: short recordings pay for them, too. */
#define SLICES         7
#define SLICE_NS       300000ULL
#define TRAP_PERIOD_NS 49999ULL

/* Only in the child that measures: a handler has nowhere else to count. */
static volatile sig_atomic_t traps;

static void on_trap(int signal)
{
	(void)signal;
	traps++;
}

static uint64_t cpu_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

/* Work of a fixed size: how long it takes. */
static uint64_t work_ns(uint64_t rounds)
{
	const uint64_t begin = cpu_now_ns();

	for (volatile uint64_t i = 0; i < rounds; i++)
		continue;
	return cpu_now_ns() - begin;
}

static int compare_u64(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* In the child.  Slices alternate, so that a change of the machine's speed hits both. */
static uint64_t measure(int event)
{
	uint64_t costs[SLICES];
	uint64_t rounds = 100000;

	rounds = rounds * SLICE_NS / (work_ns(rounds) + 1) + 1;
	for (int i = 0; i < SLICES; i++) {
		const uint64_t bare_ns = work_ns(rounds);
		const int before = traps;

		ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
		const uint64_t trapped_ns = work_ns(rounds);

		ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
		const uint64_t got = (uint64_t)(traps - before);

		costs[i] = got > 0 && trapped_ns > bare_ns ? (trapped_ns - bare_ns) / got : 0;
	}
	qsort(costs, SLICES, sizeof costs[0], compare_u64);
	return costs[SLICES / 2];
}

static uint64_t measure_in_child(const void *context)
{
	const bool is_user_mode_only = *(const bool *)context;
	struct sigaction action = { .sa_handler = on_trap };

	sigaction(SIGTRAP, &action, NULL);
	int event = perf_open_sampler(getpid(), &(struct perf_sampler){
							.period_ns = TRAP_PERIOD_NS,
							.is_user_mode_only = is_user_mode_only,
							.is_off = true,
						});

	if (event < 0)
		return 0;
	return measure(event);
}

uint64_t trigger_cost_measure(bool has_sigtrap, bool is_user_mode_only)
{
	return has_sigtrap ? in_child(measure_in_child, &is_user_mode_only) : 0;
}
