/*
 * call_tree_reader - copies the call tree that an agent keeps in shared memory (abi/trace.h)
 * into the recording.
 *
 * It is read repeatedly, and changes are written, so that the recording is up to date to a
 * second, however program and recorder end.  A thread's nodes are given back to the agent when
 * it has ended and they are written.  The target can write this memory: indices are checked,
 * and times are only added up.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct image;
struct pump;
struct known_calls;

/* For converting ticks, and for finding ended threads. */
struct call_tree_reader_terms {
	uint64_t start_ns, start_ticks; /* when the session began, on both clocks */
	bool has_sideband;              /* perf events report threads that end */
};

/*
 * Writes what has changed.  The ring's records up to now must have been taken.  is_last: no
 * thread counts any more, so a missing name will never come.
 */
void call_tree_reader_read(struct image *image, struct pump *pump,
			   const struct call_tree_reader_terms *terms, bool is_last);
/* Whether the agent may run out of slots for threads, which only a reading gives back. */
bool call_tree_reader_is_urgent(const struct known_calls *tree);
/* At the image's end: notes what is missing, and why. */
void call_tree_reader_note(struct image *image, struct pump *pump);
