/*
 * regular_file - opens files whose paths another program chose.
 *
 * Opening a FIFO would wait for its writer, some devices act on being opened, and a path may
 * lead to another file a moment after a check: so the file itself is checked first, then
 * opened.
 */
#pragma once
#include <sys/stat.h>

/*
 * Opens a regular file for reading: the caller closes the descriptor. -EINVAL for anything
 * else, or another negative errno. *out_about (may be NULL) is set on success.
 */
int regular_file_open(const char *path, struct stat *out_about);
/* Likewise; -EINVAL if the path itself is a symbolic link. */
int regular_file_open_unlinked(const char *path, struct stat *out_about);
