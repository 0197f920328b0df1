/*
 * load - makes a profile from a recording and the names of its addresses.
 *
 * A recording that its recorder finished contains its names.  One whose recorder was killed is
 * symbolized at its first report, by build id, in memory; late_names.h stores the names for
 * later reports, if the file can be written.  One that is still being written is symbolized
 * anew each time.
 *
 * Prints nothing: what did not stop the work is in notes.
 */
#pragma once
#include "load/load_options.h"

struct error;
struct late_names;
struct notes;
struct profile;

/*
 * Reads the recording at path and makes its profile.  Names that are missing are looked up.
 * Nothing is written: *out_late (out_late may be NULL) is what late_names_keep() can add to the
 * recording, or NULL.
 */
int load_recording(const char *path, const struct load_options *options, struct notes *notes,
		   struct profile **out_profile, struct late_names **out_late,
		   struct error *err);

/*
 * Looks up every address of the finished recording at path, each once, and stores its name.
 * -EBUSY while it is being written.
 */
int load_symbolize(const char *path, const struct load_options *options, struct notes *notes,
		   struct error *err);
