/*
 * interpreter_files - what is known of files that contain an interpreter, or none: it takes
 * milliseconds to find out, and many processes map the same.
 *
 * A file is known by its device, inode, size and time of change.
 */
#pragma once

struct interpreter_files;
struct python_image;
struct ruby_image;

struct interpreter_files *interpreter_files_new(void);
/* NULL is allowed. */
void interpreter_files_free(struct interpreter_files *files);
/* The interpreter in the file, as python_image_read(); owned by files. NULL: there is none. */
const struct python_image *interpreter_files_python(struct interpreter_files *files,
						    const char *path);
const struct ruby_image *interpreter_files_ruby(struct interpreter_files *files,
						const char *path);
