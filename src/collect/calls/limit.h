/*
 * trace_limit - limits the overhead of tracing to a share of a process's CPU time (`fathom
 * trace --overhead`).
 *
 * The overhead is the number of counted calls times the cost of one, as the agent calibrated it
 * (abi/trace.h).  Above the budget the agent is asked to leave out new calls, until the
 * overhead is well below the budget for the process's CPU time so far.  The cost of hooks while
 * they leave calls out is not known, and not included.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct image;
struct recording_writer;

/*
 * Whether to leave calls out from now on; is_throttled: they are left out so far.  All in ns of
 * the process's CPU time.  Pure computation.
 */
bool trace_limit_is_passed(double share, double cost_ns, double cpu_ns, bool is_throttled);
/* Checks a traced process, and switches its agent.  ns_per_tick: of the machine's counter. */
void trace_limit_look(struct image *image, double share, double ns_per_tick);
/* At the process's end: notes how much of the time it was traced, if not all. */
void trace_limit_end(struct image *image, double share, uint64_t now_ns,
		     struct recording_writer *writer);
