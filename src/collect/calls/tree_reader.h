/*
 * call_tree_reader - the calls that an agent counts in shared memory (abi/trace.h), brought into the
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
struct known_calls;

/* How long a tick is. */
struct call_tree_reader_terms {
	uint64_t start_ns, start_ticks; /* when the session began, on both clocks */
	bool has_sideband;              /* perf events report threads that end */
};

/*
 * Writes what has changed.  What the ring had up to now must have been taken in.  is_last:
 * no thread counts any more, so what has no name never will.
 */
void call_tree_reader_read(struct image *image, struct pump *pump,
			   const struct call_tree_reader_terms *terms, bool is_last);
/* Whether the agent may run short of what only a reading gives back. */
bool call_tree_reader_is_urgent(const struct known_calls *tree);
/* Notes of what is not there and why, at the image's end. */
void call_tree_reader_note(struct image *image, struct pump *pump);
