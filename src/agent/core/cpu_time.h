/*
 * cpu_time - reads the clocks of CPU time and of elapsed time, in nanoseconds.
 */
#pragma once
#include <sys/syscall.h>
#include <time.h>

#include "abi/types.h"
#include "agent/core/arch.h"

#define NS_PER_SECOND 1000000000ULL

static inline u64 timespec_ns(const struct timespec *time)
{
	return (u64)time->tv_sec * NS_PER_SECOND + (u64)time->tv_nsec;
}

/* CLOCK_MONOTONIC: no system call where the machine's counter can be trusted (the vDSO). */
static inline u64 clock_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return timespec_ns(&now);
}

/* By a system call; 0: the clock cannot be read. */
static inline u64 kernel_clock_ns(clockid_t clock)
{
	struct timespec now;

	if (arch_syscall4(SYS_clock_gettime, clock, (long)&now, 0, 0) != 0)
		return 0;
	return timespec_ns(&now);
}

static inline u64 cpu_time_of_thread_ns(void)
{
	return kernel_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}
