/*
 * load - joins a recording, the names of its addresses and a profile.
 *
 * The one place where the three meet.  A recording that its recorder finished holds
 * its names.  One whose recorder was killed is resolved at its first report, by build
 * id, and keeps the names from then on where its file can be written; one that is still
 * being written is resolved in memory, each time anew.
 *
 * Prints nothing: what did not stop the work is in notes.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct error;
struct notes;
struct profile;

/* Zero means default. */
struct load_options {
	/* Called now and then while addresses are looked up; done == total at the end. */
	void (*progress)(void *context, size_t done, size_t total);
	void *context;
	/* On this machine, a moment ago: a file that cannot be found now never will be. */
	bool was_just_recorded;
	/*
	 * No report follows: lines and inlined calls that stand in installed debug files are left
	 * for the first that does (unread_lines.h).
	 */
	bool leaves_lines;
	/* Interpreters' own frames stay where their language's stand (docs/decisions/0016). */
	bool shows_plumbing;
	/* What measuring traced calls took stays in their times. */
	bool has_raw_times;
};

/*
 * Opens the recording at path and makes its profile.  Names that are missing are looked up,
 * and kept in the recording if it is not being written and all files were found.  That it
 * cannot be written is a note.
 */
int load_recording(const char *path, const struct load_options *options, struct notes *notes,
		   struct profile **out_profile, struct error *err);

/* Looks up every address of the finished recording at path, each once, and stores what it is
 * called.  -EBUSY while it is being written. */
int load_symbolize(const char *path, const struct load_options *options, struct notes *notes,
		   struct error *err);
