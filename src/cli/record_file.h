/*
 * record_file - the file a recording goes to, and what happens to the one that was there.
 */
#pragma once

struct error;
struct recording_writer;

/* Zero-initialized is empty. */
struct record_file {
	char *path;
	char *kept_path; /* where the older one is now; NULL: there was none */
};

/*
 * Makes the recording at path, or at profile.fathom when that is NULL.  An older one is kept as
 * PATH.old; one that is still being written stays where it is, and this one is called
 * profile.PID.fathom: reported.
 */
int record_file_create(const char *path, struct record_file *out_file,
		       struct recording_writer **out_writer, struct error *err);
/* Nothing was recorded: removes it, and gives the older one its name back. */
void record_file_take_back(struct record_file *file);
void record_file_done(struct record_file *file);
