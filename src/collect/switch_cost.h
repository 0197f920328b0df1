/*
 * switch_cost - what a switch to and from a sampled thread costs on this machine, as far
 * as the thread's CPU clock shows it and the sampling event does not.
 */
#pragma once
#include <stdint.h>

/*
 * Measures it in a child that sleeps and wakes a few hundred times (some milliseconds): ns
 * per switch at this sampling period; 0 if it cannot be measured.
 */
uint64_t switch_cost_measure(uint64_t period_ns);
