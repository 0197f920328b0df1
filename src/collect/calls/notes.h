/*
 * trace_notes - notes of what a trace lacks of an image, and why: sentences for what the agent
 * has left in its area (abi/trace.h).
 */
#pragma once
#include <stdint.h>

struct image;
struct recording_writer;
struct trace_area;

/* At the image's end.  How long tracing was off is image->off_ns by then. */
void trace_notes_add(struct image *image, const struct trace_area *area,
		     struct recording_writer *writer);
/* So many callees whose names did not come. */
void trace_notes_nameless(const struct image *image, uint64_t count,
			  struct recording_writer *writer);
