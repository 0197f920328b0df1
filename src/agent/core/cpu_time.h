/*
 * cpu_time - reads a thread's or process's CPU time, or another clock, by a system call.
 */
#pragma once
#include <sys/syscall.h>
#include <time.h>

#include "abi/types.h"
#include "agent/core/arch.h"

/* 0: the clock cannot be read. */
static inline u64 kernel_clock_ns(clockid_t clock)
{
	struct timespec now;

	if (arch_syscall4(SYS_clock_gettime, clock, (long)&now, 0, 0) != 0)
		return 0;
	return (u64)now.tv_sec * 1000000000ULL + (u64)now.tv_nsec;
}

static inline u64 cpu_time_of_thread_ns(void)
{
	return kernel_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}
