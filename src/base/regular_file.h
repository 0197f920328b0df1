/*
 * regular_file - opens files whose paths another program chose.
 *
 * A FIFO would wait for its writer and some devices act on being opened, and a path may lead to
 * another file a moment after it was looked at: the file itself is looked at, then opened.
 */
#pragma once
#include <sys/stat.h>

/*
 * A descriptor for reading, of a regular file: the caller closes it.  -EINVAL for anything else,
 * or another negative errno.  *out_about (may be NULL) is set on success.
 */
int regular_file_open(const char *path, struct stat *out_about);
/* Likewise, of a path that is no symbolic link itself (-EINVAL for one). */
int regular_file_open_unlinked(const char *path, struct stat *out_about);
