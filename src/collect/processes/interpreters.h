/*
 * interpreters - which mapped files have an interpreter in them, and what agents and the
 * recording are noted.
 *
 * A file is asked once, when a process that has an agent has it mapped; that one's ring gets
 * the layout of its interpreter.  That may take longer than an agent waits for its answer, if
 * the file comes from a slow disk, and seldom as long as an interpreter takes to begin.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

struct image;
struct interpreter_file;
struct module_place;
struct recording_writer;

struct interpreters {
	struct recording_writer *writer;
	struct table by_module; /* the recording's module to the last of its files, + 1 */
	struct interpreter_file **files; /* those that have one */
	size_t count, capacity;
};

void interpreters_init(struct interpreters *interpreters, struct recording_writer *writer);
void interpreters_done(struct interpreters *interpreters);

/* The image has mapped this, and has a ring, or copied stacks: those have no layout. */
void interpreters_see(struct interpreters *interpreters, struct image *image,
		      const struct module_place *place);
/* Whether one is in what the image, which may have no ring, has mapped, and its layout is known. */
bool interpreters_are_in(struct interpreters *interpreters, const struct image *image);
/* The image has got its ring: those that it has mapped in files that were asked before. */
void interpreters_recall(const struct interpreters *interpreters, struct image *image);
/* The image runs: everything that it has mapped. */
void interpreters_look(struct interpreters *interpreters, struct image *image);
/* The image has ended: what its agent found of the layout. */
void interpreters_note(const struct interpreters *interpreters, const struct image *image);
