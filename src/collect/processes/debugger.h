/*
 * debugger - detects processes that a debugger traces, and pauses their sampling: our SIGTRAPs
 * would stop them in the debugger.
 *
 * No event reports that a debugger attaches, so TracerPid in /proc/<pid>/status is polled every
 * few milliseconds.  It is slow to read; but a debugger that attaches makes a process run, if
 * only to stop it.  So only processes that have used CPU time since the last check are read,
 * and of many none while the whole tree has used none.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct image;
struct pause_terms;
struct recording_writer;
struct tree;

struct debugger_watch {
	int tree_counter_fd; /* counts CPU time of the whole tree; -1: none */
	uint64_t tree_ns;    /* at the last reading */
	uint64_t next_look_ns;
	size_t turn; /* the next image to check */
	size_t left; /* images still to check since the tree has run */
};

/*
 * Writes a note if the image was traced while timers sampled it, which cannot be stopped from
 * outside.
 */
void debugger_note(struct recording_writer *writer, const struct image *image);
/* Milliseconds until the next check is due, at most wait_ms. */
int debugger_wait_ms(const struct debugger_watch *watch, const struct tree *tree, int wait_ms);
/* Checks the images that have an agent, if a check is due. */
void debugger_look(struct debugger_watch *watch, struct tree *tree,
		   const struct pause_terms *terms);
