/*
 * export_file - a profile to a file in the format of another tool.
 *
 * SIGPIPE must be ignored (output.h).
 */
#pragma once

struct error;
struct exporter;
struct profile;

/* The format whose files are called as path is, or NULL. */
const struct exporter *export_file_format(const char *path);
/* -EINVAL and a sentence if a picture is asked for by its name, which no format is; else 0. */
int export_file_refuse_picture(const char *path, struct error *err);
/*
 * 0 if path may be written: nothing is there, or no regular file, or an empty one, or one that is
 * already of that format.  Else -EEXIST and a sentence.
 */
int export_file_check(const char *path, const struct exporter *exporter, struct error *err);
/* The recording that goes with an export of that path: x.html's is x.fathom.  The caller frees it. */
char *export_file_recording(const char *path, const struct exporter *exporter);
/* path NULL is standard output.  What was there stays if it fails. */
int export_file_write(const char *path, const struct exporter *exporter,
		      const struct profile *profile, struct error *err);
