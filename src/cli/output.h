/*
 * output - bytes to stdout, or to a file that is there whole or not at all.
 *
 * SIGPIPE must be ignored: a reader that went away is -EPIPE, which callers pass over in
 * silence.
 */
#pragma once
#include <stddef.h>

struct error;
struct sink;

/* Writes all of it; name is the file's in the sentence. */
int output_write(int fd, const char *name, const void *bytes, size_t len, struct error *err);

/*
 * A file under construction.  A regular file is made without a name beside the one it will
 * replace and gets its name when it is whole; a device or a pipe is written in place.
 */
struct output {
	int fd;
	const char *name; /* as it was given, for sentences; borrowed */
	char *target;     /* with symbolic links followed; NULL: written in place */
	char *temporary;  /* the name it has meanwhile; NULL: none */
};

int output_open(const char *path, struct output *out_output, struct error *err);
/* Standard output: output_finish() and output_abandon() leave it open. */
struct output output_stdout(void);
/* A sink that lives as long as output. */
struct sink output_sink(struct output *output);
/* Gives the file its name.  Releases output, whatever the result. */
int output_finish(struct output *output, struct error *err);
/* Leaves nothing behind. */
void output_abandon(struct output *output);
