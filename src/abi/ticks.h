/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ticks - reads the processor's counter, which advances at a constant rate.
 *
 * The agent times its handler by it, since reading it never takes a system call; the recorder
 * determines its rate by CLOCK_MONOTONIC.
 */
#pragma once
#include "abi/types.h"

static inline u64 ticks_now(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	u64 ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
#error "ticks has no counter for this machine"
#endif
}
