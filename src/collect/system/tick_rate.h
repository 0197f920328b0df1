/* tick_rate - measures the frequency of the processor's tick counter (abi/ticks.h). */
#pragma once
#include <stdint.h>

/*
 * Ticks in a nanosecond, times 2^32, accurate to about 1 in 100,000.  Takes five milliseconds.
 */
uint64_t tick_rate_measure(void);
