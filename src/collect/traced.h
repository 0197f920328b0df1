/*
 * traced - the calls that an agent counts in shared memory (abi/trace.h), brought into the
 * recording.
 *
 * Read again and again: what has changed since is written, so that the recording has what was
 * counted up to a second ago, however program and recorder end.  A thread's nodes go back to the
 * agent when it has ended and all is written.  The memory is the target's to write: indices
 * are checked, and a time is only ever added up.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct image;
struct pump;
struct trace_area;
struct traced;

/* How long a tick is. */
struct traced_terms {
	uint64_t start_ns, start_ticks; /* when the session began, on both clocks */
	bool has_sideband;              /* the kernel tells of threads that end */
};

/* Never NULL.  The area stays the image's. */
struct traced *traced_new(struct trace_area *area);
void traced_free(struct traced *traced);

/*
 * Writes what has changed.  What the ring had up to now must have been taken in.  is_last:
 * nobody counts any more, so what has no name never will.
 */
void traced_read(struct image *image, struct pump *pump, const struct traced_terms *terms,
		 bool is_last);
/* Whether the agent may run short of what only a reading gives back. */
bool traced_is_urgent(const struct traced *traced);
/* Notes of what is not there and why, at the image's end. */
void traced_tell(struct image *image, struct pump *pump);
/* How many of its calls were written. */
uint64_t traced_calls(const struct traced *traced);
