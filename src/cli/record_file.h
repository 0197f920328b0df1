/* record_file - creates the file of a recording, and keeps the older one that was there. */
#pragma once

struct error;
struct recording_writer;

/* Zero-initialized is empty. */
struct record_file {
	char *path;
	char *kept_path; /* the older one's new path; NULL: there was none */
};

/*
 * Creates the recording at path, or at profile.fathom if that is NULL. An older one is kept as
 * PATH.old; one that is still being written stays, and the new one is called
 * profile.PID.fathom, which is reported.
 */
int record_file_create(const char *path, struct record_file *out_file,
		       struct recording_writer **out_writer, struct error *err);
/* For when nothing was recorded: removes the file, and gives the older one its name back. */
void record_file_take_back(struct record_file *file);
void record_file_done(struct record_file *file);
