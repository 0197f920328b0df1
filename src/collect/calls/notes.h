/*
 * trace_notes - writes notes on what is missing from an image's trace, and why, by the flags
 * and counts of its agent (abi/trace.h).
 */
#pragma once
#include <stdint.h>

struct image;
struct recording_writer;
struct trace_area;

/* Called at the image's end, when image->off_ns is how long tracing was off. */
void trace_notes_add(struct image *image, const struct trace_area *area,
		     struct recording_writer *writer);
/* Notes that count callees have no names. */
void trace_notes_nameless(const struct image *image, uint64_t count,
			  struct recording_writer *writer);
