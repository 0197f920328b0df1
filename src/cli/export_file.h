/*
 * export_file - writes a profile to a file in another tool's format.
 *
 * SIGPIPE must be ignored (output.h).
 */
#pragma once

struct error;
struct exporter;
struct profile;

/* The format that the path's suffix stands for, or NULL. */
const struct exporter *export_file_format(const char *path);
/*
 * -EINVAL and a sentence if the suffix is that of a bitmap image, for which there is no format;
 * else 0.
 */
int export_file_refuse_picture(const char *path, struct error *err);
/*
 * 0 if path may be written: it does not exist, is no regular file, is empty, or is already of
 * that format. Else -EEXIST and a sentence.
 */
int export_file_check(const char *path, const struct exporter *exporter, struct error *err);
/*
 * The recording that belongs to an export at that path: for x.html, x.fathom. The caller frees
 * it.
 */
char *export_file_recording(const char *path, const struct exporter *exporter);
/* path NULL is standard output. An existing file is kept if this fails. */
int export_file_write(const char *path, const struct exporter *exporter,
		      const struct profile *profile, struct error *err);
