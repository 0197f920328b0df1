#include "load/load.h"

#include <errno.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "base/roomy_stack.h"
#include "load/build.h"
#include "load/codes.h"
#include "load/facts.h"
#include "load/fold.h"
#include "load/interpreters.h"
#include "load/late_names.h"
#include "load/names.h"
#include "load/resolve.h"
#include "profile/profile.h"
#include "record/reader.h"

struct resolving {
	struct recording_reader *reader;
	const struct load_options *options;
	struct notes *notes;
	struct names *names;
	struct error *err;
};

static int resolve(void *context)
{
	static const struct load_options defaults = { 0 };
	const struct resolving *it = context;

	return resolve_names(it->reader, it->options ? it->options : &defaults, it->notes,
			     it->names, it->err);
}

/*
 * Collects all names of the recording, sorted: reads its own, and looks up those that are
 * missing.
 */
static int find_names(struct recording_reader *reader, const struct load_options *options,
		      struct notes *notes, struct names *names, struct error *err)
{
	int rc = names_read(names, reader, err);

	if (rc == 0)
		rc = codes_read(names, reader, err);
	if (rc == 0 && !recording_reader_is_symbolized(reader))
		rc = roomy_stack_run(resolve,
				     &(struct resolving){ reader, options, notes, names, err });
	names_sort(names);
	return rc;
}

static int fill(struct recording_reader *reader, const struct names *names,
		const struct load_options *options, struct profile *profile, struct error *err)
{
	CLEANUP(folding_done)
	struct folding folding = { .is_off = options && options->shows_plumbing };
	int rc = facts_read(reader, profile, err);

	folding.keeps_imports = profile_is_trace(profile);
	if (rc == 0)
		rc = interpreters_read(reader, &folding, profile, err);
	if (rc < 0)
		return rc;
	return build_profile(reader,
			     &(struct build_terms){
				     .names = names,
				     .folding = &folding,
				     .has_raw_times = options && options->has_raw_times,
				     .has_time_slots = options && options->has_time_slots,
				     .wants_blame = options && options->wants_blame,
			     },
			     profile, err);
}

int load_symbolize(const char *path, const struct load_options *options, struct notes *notes,
		   struct error *err)
{
	CLEANUP(late_names_freep) struct late_names *late = NULL;
	CLEANUP(notes_freep) struct notes *new_notes = notes_new(), *none = notes_new();
	CLEANUP(recording_reader_closep) struct recording_reader *reader = NULL;
	CLEANUP(names_done) struct names names = { 0 };
	const struct file_identity identity = file_identity_of(path);
	int rc = recording_reader_open(path, &reader, err);

	if (rc == 0 && recording_reader_is_being_written(reader))
		rc = error_set(err, -EBUSY, "%s: it is still being written", path);
	if (rc == 0 && recording_reader_is_symbolized(reader))
		return 0;
	if (rc == 0)
		rc = find_names(reader, options, new_notes, &names, err);
	/* A reader in the way would keep a rollback journal from being committed. */
	recording_reader_close(reader);
	reader = NULL;
	late = late_names_new(identity, &names, new_notes, none);
	if (rc == 0)
		rc = late_names_store(late, path, err);
	notes_add_all(notes, new_notes);
	return rc;
}

/*
 * Whether to store the names that were looked up.  A file that is missing here may exist on the
 * machine where the recording was made, so if any was not found none are stored, except there.
 */
static bool should_keep(const struct recording_reader *reader,
			const struct load_options *options, const struct notes *missing)
{
	if (recording_reader_is_symbolized(reader) || recording_reader_is_being_written(reader))
		return false;
	return (options && options->was_just_recorded) || notes_count(missing) == 0;
}

int load_recording(const char *path, const struct load_options *options, struct notes *notes,
		   struct profile **out_profile, struct late_names **out_late,
		   struct error *err)
{
	CLEANUP(recording_reader_closep) struct recording_reader *reader = NULL;
	CLEANUP(profile_freep) struct profile *profile = profile_new();
	CLEANUP(notes_freep) struct notes *all = notes_new(), *new_notes = notes_new();
	CLEANUP(names_done) struct names names = { 0 };
	const struct file_identity identity = file_identity_of(path);
	int rc = recording_reader_open(path, &reader, err);

	if (rc == 0)
		rc = find_names(reader, options, new_notes, &names, err);
	if (rc == 0)
		rc = fill(reader, &names, options, profile, err);
	if (rc == 0)
		rc = facts_read_notes(reader, all, err);
	if (rc < 0)
		return rc;
	if (out_late)
		*out_late = should_keep(reader, options, new_notes)
				    ? late_names_new(identity, &names, new_notes, all)
				    : NULL;
	notes_add_all(all, new_notes);
	notes_add_all(notes, new_notes);
	facts_set_notes(profile, all);
	*out_profile = profile;
	profile = NULL; /* now the caller's */
	return 0;
}
