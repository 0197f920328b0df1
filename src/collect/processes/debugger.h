/*
 * debugger - which processes a debugger traces, so that none of our traps goes to it.
 *
 * There is no event for an attachment, so it is looked for, every few milliseconds.  The place to
 * look (TracerPid in /proc/<pid>/status) is slow to read; but a debugger that attaches makes a
 * process run, if only to stop it.  So while the whole tree has burned nothing, nothing is
 * looked at, and of the processes only those that have burned anything since the last look.
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
	int tree_counter_fd; /* counts what the whole tree burns; -1: none */
	uint64_t tree_ns;    /* as it was read last */
	uint64_t next_look_ns;
	size_t turn; /* which image is looked at first */
	size_t left; /* images to look at since the tree burned anything */
};

/* A note if the image was traced and timers trigger, which cannot be stopped from outside. */
void debugger_note(struct recording_writer *writer, const struct image *image);
/* Milliseconds until the next look is due, or the given, if that is sooner. */
int debugger_wait_ms(const struct debugger_watch *watch, const struct tree *tree, int wait_ms);
/* Looks at the images the agent is in, if it is time to. */
void debugger_look(struct debugger_watch *watch, struct tree *tree,
		   const struct pause_terms *terms);
