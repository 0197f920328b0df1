/*
 * late_names - names that a recording lacked when it was read, kept in its file.
 *
 * Looking them up takes seconds and only works while the program's files are there, so a
 * recording that its recorder could not finish gets them at its first report.  A recording that
 * cannot be written to is read all the same.
 */
#pragma once
#include <sys/types.h>

struct error;
struct late_names;
struct names;
struct notes;
struct profile;

/* A file by what it is, not by what it is called: a new recording may take its name. */
struct file_identity {
	dev_t device;
	ino_t inode;
};

/* Of no file, if there is none. */
struct file_identity file_identity_of(const char *path);

/*
 * Takes the names, which are empty then; copies notes, what was found out while they were looked
 * up, and earlier, the recording's own.
 */
struct late_names *late_names_new(struct file_identity identity, struct names *names,
				  const struct notes *notes, const struct notes *earlier);
void late_names_free(struct late_names *late);
void late_names_freep(struct late_names **late);
/*
 * Adds them and their notes to the recording at path, in one transaction.  No reader of ours may
 * have it open: a rollback journal could not be committed.  -ESTALE if another recording has taken
 * its place.
 */
int late_names_store(const struct late_names *late, const char *path, struct error *err);
/*
 * The same at a report, which goes on if it fails: that is a note of the profile and in notes then.
 * late may be NULL: none were missing.
 */
void late_names_keep(const struct late_names *late, const char *path, struct profile *profile,
		     struct notes *notes);
