/*
 * output - writes bytes to stdout, or to a file that appears complete or not at all.
 *
 * SIGPIPE must be ignored: a reader that has closed is -EPIPE, which callers ignore.
 */
#pragma once
#include <stddef.h>

struct error;
struct sink;

/* Writes all bytes; name is the file's in the sentence. */
int output_write(int fd, const char *name, const void *bytes, size_t len, struct error *err);

/*
 * A file being written. A regular file is created without a name in its target's folder and
 * gets its name when it is complete; a device or a pipe is written directly.
 */
struct output {
	int fd;
	const char *name; /* as given, for sentences; borrowed */
	char *target;     /* with symbolic links resolved; NULL: written directly */
	char *temporary;  /* its temporary name; NULL: none */
};

int output_open(const char *path, struct output *out_output, struct error *err);
/* Standard output: output_finish() and output_abandon() leave it open. */
struct output output_stdout(void);
/* A sink that writes to output, and is valid as long as that. */
struct sink output_sink(struct output *output);
/* Gives the file its name. Releases output, whatever the result. */
int output_finish(struct output *output, struct error *err);
/* Drops the file, and releases output. */
void output_abandon(struct output *output);
