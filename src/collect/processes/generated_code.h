/*
 * generated_code - copies the names of JIT-compiled code, a process's perf map
 * (/tmp/perf-PID.map), into the recording when the process ends.
 *
 * Anybody may write a file of that name, and process ids are reused.  So a map is used only if
 * the process's user or root owns it, and if it was written since the process began.
 */
#pragma once
#include <stdint.h>

struct image;
struct recording_writer;

/* How many perf maps were not used. */
struct generated_code {
	uint64_t foreign; /* another user's */
	uint64_t stale;   /* written before the process began */
};

/* The image has mapped generated code for the first time. */
void generated_code_begin(struct image *image);
/* Copies the perf map of an image that has ended. */
void generated_code_copy(struct generated_code *code, struct recording_writer *writer,
			 const struct image *image);
/* Notes how many were not used, and why. */
void generated_code_note(const struct generated_code *code, struct recording_writer *writer);
