/*
 * interpreters - finds the mapped files that contain an interpreter, gives agents its layout,
 * and notes why frames are missing.
 *
 * A file is read once, when a process with an agent has mapped it; the process's ring gets the
 * interpreter's layout.  From a slow disk that may take longer than an agent waits for its
 * answer, but seldom as long as an interpreter takes to start.
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
	struct table by_module; /* module to its last file + 1; 0: it has no interpreter */
	struct interpreter_file **files; /* those with an interpreter */
	size_t count, capacity;
};

void interpreters_init(struct interpreters *interpreters, struct recording_writer *writer);
void interpreters_done(struct interpreters *interpreters);

/*
 * The image, which has a ring or copied stacks, has mapped this.  Copied stacks get no layout.
 */
void interpreters_see(struct interpreters *interpreters, struct image *image,
		      const struct module_place *place);
/* Whether the image, which may have no ring, has mapped an interpreter with a known layout. */
bool interpreters_are_in(struct interpreters *interpreters, const struct image *image);
/* The image has got its ring: adds its interpreters in files that were read before. */
void interpreters_recall(const struct interpreters *interpreters, struct image *image);
/* Adds the interpreters in all that the image has mapped. */
void interpreters_look(struct interpreters *interpreters, struct image *image);
/* The image has ended: notes what its agent found wrong with the layouts. */
void interpreters_note(const struct interpreters *interpreters, const struct image *image);
