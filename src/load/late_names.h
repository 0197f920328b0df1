/*
 * late_names - stores in a recording the names that it lacked, and that were looked up for a
 * report.
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

/* Identifies a file without its name, which a new recording may take. */
struct file_identity {
	dev_t device;
	ino_t inode;
};

/* Zeros if there is no file. */
struct file_identity file_identity_of(const char *path);

/*
 * Takes the names, which are empty afterwards; copies notes, those of the look-up, and earlier,
 * the recording's own.
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
 * The same at a report, which goes on if that fails: then a note is added to the profile and to
 * notes.  late may be NULL: none were missing.
 */
void late_names_keep(const struct late_names *late, const char *path, struct profile *profile,
		     struct notes *notes);
