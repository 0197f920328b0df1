#include "load/late_names.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "load/facts.h"
#include "load/names.h"
#include "record/writer.h"

struct late_names {
	struct file_identity identity;
	struct names names;
	struct notes *notes, *earlier;
};

struct file_identity file_identity_of(const char *path)
{
	struct stat about;

	if (stat(path, &about) < 0)
		return (struct file_identity){ 0 };
	return (struct file_identity){ about.st_dev, about.st_ino };
}

struct late_names *late_names_new(struct file_identity identity, struct names *names,
				  const struct notes *notes, const struct notes *earlier)
{
	struct late_names *late = xzalloc(sizeof *late);

	*late = (struct late_names){ .identity = identity,
				     .names = *names,
				     .notes = notes_new(),
				     .earlier = notes_new() };
	*names = (struct names){ 0 };
	notes_add_all(late->notes, notes);
	notes_add_all(late->earlier, earlier);
	return late;
}

void late_names_free(struct late_names *late)
{
	if (!late)
		return;
	names_done(&late->names);
	notes_freep(&late->notes);
	notes_freep(&late->earlier);
	free(late);
}

void late_names_freep(struct late_names **late)
{
	late_names_free(*late);
}

int late_names_store(const struct late_names *late, const char *path, struct error *err)
{
	const struct file_identity now = file_identity_of(path);
	struct recording_writer *writer = NULL;

	if (now.device != late->identity.device || now.inode != late->identity.inode)
		return error_set(err, -ESTALE, "%s: another recording has taken its place",
				 path);
	int rc = recording_writer_reopen(path, &writer, err);

	if (rc < 0)
		return rc;
	/* The first failure is kept by the writer, and returned when it is closed. */
	names_store(&late->names, writer);
	for (size_t i = 0; i < notes_count(late->notes); i++)
		recording_writer_note(writer, notes_text(late->notes, i, NULL));
	return recording_writer_close(writer, err);
}

void late_names_keep(const struct late_names *late, const char *path, struct profile *profile,
		     struct notes *notes)
{
	struct error why;

	if (!late || late_names_store(late, path, &why) == 0)
		return;
	CLEANUP(freep)
	char *note = xasprintf("the names were looked up on this machine and could not be kept "
			       "in the recording, so each report looks them up again: %s",
			       why.text);
	CLEANUP(notes_freep) struct notes *all = notes_new();

	notes_add_all(all, late->earlier);
	notes_add_all(all, late->notes);
	notes_add(all, "%s", note);
	notes_add(notes, "%s", note);
	facts_set_notes(profile, all);
}
