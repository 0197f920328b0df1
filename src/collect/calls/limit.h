/*
 * trace_limit - what tracing may take of a process's CPU time (`fathom trace --overhead`).
 *
 * What it takes is the calls that were counted, at what each costs as the agent calibrated it
 * (abi/trace.h).  Beyond the budget the agent is asked to leave out calls that begin, until what
 * was taken is so much less than the budget of what the process has burned by then.  What hooks
 * take that leave calls out is not known, and not in it.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct image;
struct recording_writer;

/*
 * By figures alone: whether calls are to be left out from now on, where they are, or are not, so
 * far.  All in ns of the process's CPU time.
 */
bool trace_limit_is_passed(double share, double cost_ns, double cpu_ns, bool is_throttled);
/* Looks at a process that is traced, and asks its agent.  ns_per_tick: of the machine's counter. */
void trace_limit_look(struct image *image, double share, double ns_per_tick);
/* At its end: for how much of the time it was traced, if that was not all; and a note of it. */
void trace_limit_end(struct image *image, double share, uint64_t now_ns,
		     struct recording_writer *writer);
