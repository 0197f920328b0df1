/*
 * processor_speed - how quick the processor is at this moment, by a burst of work of our own.
 *
 * A processor has more than one speed: what shares its core (the other hyperthread, which may be
 * another machine's) makes calls take 1.4 to 1.9 times as long, for some milliseconds or for
 * minutes, while the clock goes on as ever.  What calls cost is found out at one, and the program
 * may run at another.  A burst takes longer by as much as calls do, more or less: what shares
 * a core takes half of what it can execute at once, or of the jumps that it can make.
 *
 * Bursts that follow each other are foretold to their end; the first ones behind other code are
 * not, and find the caches cold: these took a tenth longer at the same speed.  So it is the
 * difference between a longer and a shorter burst that is taken, which end alike, and in a
 * program some are executed before.
 *
 * So a burst is timed beside each calibration, and every few milliseconds in the course of the
 * program, at the call that comes next: that time is no call's.
 */
#pragma once
#include "abi/types.h"

struct call_stack;

/*
 * By how many ticks the longer of two bursts takes longer: the median of three, for one may be
 * interrupted.  Behind other bursts, or little else (calibrate.c).
 */
u32 trace_speed_measure(void);
/* Puts one down (trace_area.burst_ticks); it is not due again for some milliseconds. */
void trace_speed_look(struct call_stack *calls);
