#include "load/load.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "base/roomy_stack.h"
#include "load/build.h"
#include "load/codes.h"
#include "load/facts.h"
#include "load/fold.h"
#include "load/interpreters.h"
#include "load/names.h"
#include "load/resolve.h"
#include "profile/profile.h"
#include "record/reader.h"
#include "record/writer.h"

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

/* All names of the recording, sorted: its own, and those that are missing looked up. */
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

	if (rc == 0)
		rc = interpreters_read(reader, &folding, profile, err);
	if (rc < 0)
		return rc;
	return build_profile(reader,
			     &(struct build_terms){
				     .names = names,
				     .folding = &folding,
				     .has_raw_times = options && options->has_raw_times,
			     },
			     profile, err);
}

static void add_notes(struct notes *to, const struct notes *from)
{
	for (size_t i = 0; i < notes_count(from); i++)
		notes_add(to, "%s", notes_text(from, i, NULL));
}

/* A file by what it is, not by what it is called: a new recording may take its name. */
struct identity {
	dev_t device;
	ino_t inode;
};

static struct identity identify(const char *path)
{
	struct stat about;

	if (stat(path, &about) < 0)
		return (struct identity){ 0 };
	return (struct identity){ about.st_dev, about.st_ino };
}

/* Writes the names, and what was noted while they were looked up. */
static int store(const char *path, struct identity identity, const struct names *names,
		 const struct notes *notes, struct error *err)
{
	struct recording_writer *writer = NULL;
	struct identity now = identify(path);

	if (now.device != identity.device || now.inode != identity.inode)
		return error_set(err, -ESTALE, "%s: another recording has taken its place",
				 path);
	int rc = recording_writer_reopen(path, &writer, err);

	if (rc < 0)
		return rc;
	/* The first failure is kept by the writer, and told when it is closed. */
	names_store(names, writer);
	for (size_t i = 0; i < notes_count(notes); i++)
		recording_writer_note(writer, notes_text(notes, i, NULL));
	return recording_writer_close(writer, err);
}

int load_symbolize(const char *path, const struct load_options *options, struct notes *notes,
		   struct error *err)
{
	CLEANUP(notes_freep) struct notes *new_notes = notes_new();
	CLEANUP(recording_reader_closep) struct recording_reader *reader = NULL;
	CLEANUP(names_done) struct names names = { 0 };
	int rc = recording_reader_open(path, &reader, err);
	struct identity identity = identify(path);

	if (rc == 0 && recording_reader_is_being_written(reader))
		rc = error_set(err, -EBUSY, "%s: it is still being written", path);
	if (rc == 0 && recording_reader_is_symbolized(reader))
		return 0;
	if (rc == 0)
		rc = find_names(reader, options, new_notes, &names, err);
	/* A reader in the way would keep a rollback journal from being committed. */
	recording_reader_close(reader);
	reader = NULL;
	if (rc == 0)
		rc = store(path, identity, &names, new_notes, err);
	add_notes(notes, new_notes);
	return rc;
}

/*
 * Whether names are missing that should be kept.  A file that is not here may be there on the
 * machine where the recording was made, so what was not found is not kept, except there.
 */
static bool should_keep(const struct recording_reader *reader,
			const struct load_options *options, const struct notes *missing)
{
	if (recording_reader_is_symbolized(reader) || recording_reader_is_being_written(reader))
		return false;
	return (options && options->was_just_recorded) || notes_count(missing) == 0;
}

int load_recording(const char *path, const struct load_options *options, struct notes *notes,
		   struct profile **out_profile, struct error *err)
{
	CLEANUP(recording_reader_closep) struct recording_reader *reader = NULL;
	CLEANUP(profile_freep) struct profile *profile = profile_new();
	CLEANUP(notes_freep) struct notes *all = notes_new(), *new_notes = notes_new();
	CLEANUP(names_done) struct names names = { 0 };
	struct identity identity = identify(path);
	struct error why;
	int rc = recording_reader_open(path, &reader, err);

	if (rc == 0)
		rc = find_names(reader, options, new_notes, &names, err);
	if (rc == 0)
		rc = fill(reader, &names, options, profile, err);
	if (rc == 0)
		rc = facts_read_notes(reader, all, err);
	if (rc < 0)
		return rc;
	bool keeps_names = should_keep(reader, options, new_notes);

	recording_reader_close(reader);
	reader = NULL;
	if (keeps_names && store(path, identity, &names, new_notes, &why) < 0)
		notes_add(new_notes,
			  "the names were looked up on this machine and could not be kept: %s",
			  why.text);
	add_notes(all, new_notes);
	add_notes(notes, new_notes);
	facts_set_notes(profile, all);
	*out_profile = profile;
	profile = NULL; /* now the caller's */
	return 0;
}
