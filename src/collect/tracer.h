/*
 * tracer - which processes a debugger traces, so that none of our traps goes to it.
 *
 * The kernel tells nobody of an attachment, so it is looked for, every few milliseconds.  The
 * place to look (TracerPid in /proc/<pid>/status) is slow to read; but who traces a process
 * makes it run, if only to stop it.  So while the whole tree has burned nothing, nothing is
 * looked at, and of the processes only those that have burned anything since the last look.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct enter_terms;
struct image;
struct recording_writer;
struct tree;

struct tracer_watch {
	int tree_counter_fd; /* counts what the whole tree burns; -1: none */
	uint64_t tree_ns;    /* as it was read last */
	uint64_t next_look_ns;
	size_t turn; /* which image is looked at first */
	size_t left; /* images to look at since the tree burned anything */
};

/* Whether a process is being traced at this moment. */
bool tracer_is_on(pid_t pid);
/* A note if the image was traced and timers trigger, which nobody can stop from outside. */
void tracer_tell(struct recording_writer *writer, const struct image *image);
/* Milliseconds until the next look is due, or the given, if that is sooner. */
int tracer_wait_ms(const struct tracer_watch *watch, const struct tree *tree, int wait_ms);
/* Looks at the images the agent is in, if it is time to. */
void tracer_look(struct tracer_watch *watch, struct tree *tree,
		 const struct enter_terms *terms);
