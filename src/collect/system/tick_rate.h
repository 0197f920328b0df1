/*
 * tick_rate - how fast the machine's counter (abi/ticks.h) is.
 */
#pragma once
#include <stdint.h>

/*
 * Ticks in a nanosecond, by 2^32, to about a hundred thousandth.  Takes five milliseconds.
 */
uint64_t tick_rate_measure(void);
