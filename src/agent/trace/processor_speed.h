/*
 * processor_speed - measures the processor's present speed by timing a burst of work.
 *
 * A processor has more than one speed: a busy hyperthread on the same core (perhaps of another
 * virtual machine) makes calls take 1.4 to 1.9 times as long, for milliseconds or for minutes,
 * while the clock runs on evenly.  The cost of calls is measured at one speed, and the program may
 * run at another.  A burst slows down about as much as calls do: the neighbour takes half of the
 * core's execution units, or of its jumps.
 *
 * In a series of bursts all branches are predicted.  The first bursts after other code are not
 * predicted and find cold caches: they took a tenth longer at the same speed.  So the difference
 * between a longer and a shorter burst is measured, which end alike, and within the program some
 * bursts are run first as a warm-up.
 *
 * A burst is timed with each calibration, and every few milliseconds while the program runs, at
 * the next call: that time is left out of all calls.
 */
#pragma once
#include "abi/types.h"

struct call_stack;

/*
 * The difference between the longer and the shorter burst, in ticks: the median of three, as one
 * may be interrupted.  Needs a warm-up by other bursts, or small loops (calibrate.c).
 */
u32 trace_speed_measure(void);
/* Measures, and adds the result to trace_area.burst_ticks; then not again for some milliseconds. */
void trace_speed_look(struct call_stack *calls);
