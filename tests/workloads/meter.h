/*
 * meter - what a thread's waits are, by its own account: the time on the wall from before a call
 * to behind it, less what the thread ran and what it was runnable meanwhile.
 */
#pragma once
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct meter {
	int sched_fd; /* the calling thread's schedstat; -1: there is none */
	uint64_t wall_ns, cpu_ns, delay_ns;
};

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* "ran waited slices", in ns: how long the thread was runnable and did not run. */
static inline uint64_t meter_delay_ns(const struct meter *meter)
{
	char text[96], *end = text;
	const ssize_t len = pread(meter->sched_fd, text, sizeof text - 1, 0);

	if (len <= 0)
		return 0;
	text[len] = '\0';
	strtoull(text, &end, 10);
	return strtoull(end, NULL, 10);
}

static inline struct meter meter_open(void)
{
	return (struct meter){ .sched_fd = open("/proc/thread-self/schedstat", O_RDONLY) };
}

static inline void meter_begin(struct meter *meter)
{
	meter->delay_ns = meter_delay_ns(meter);
	meter->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	meter->wall_ns = clock_ns(CLOCK_MONOTONIC);
}

/* What was neither running nor runnable since it began. */
static inline uint64_t meter_waited_ns(const struct meter *meter)
{
	/* In the same order as at the beginning: what lies between the two is in neither. */
	const uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - meter->cpu_ns;
	const uint64_t wall_ns = clock_ns(CLOCK_MONOTONIC) - meter->wall_ns;
	const uint64_t delay_ns = meter_delay_ns(meter) - meter->delay_ns;

	return wall_ns > cpu_ns + delay_ns ? wall_ns - cpu_ns - delay_ns : 0;
}
