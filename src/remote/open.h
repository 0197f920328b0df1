/*
 * open - begins to read a process that runs, or a core file that was one.
 *
 * A process is not stopped, and nothing is written into it.
 */
#pragma once
#include <sys/types.h>

struct error;
struct remote;

/*
 * On success remote_close().  Else a negative errno and a sentence with what would help: there
 * is no such process, it has ended (a zombie), it is a kernel thread, it may not be read.
 */
int remote_open(pid_t pid, struct remote *out_remote, struct error *err);

/*
 * The process has mapped more, or other files: what is known of them is read anew; interpreters that
 * were found stay.  Cheap beside opening it again.  As remote_open(); on failure it is as it was.
 */
int remote_map_again(struct remote *remote, struct error *err);

struct remote_core_options {
	const char *path;
	const char
		*program; /* to be read in place of the program that ran; NULL: where it was */
	const char *root; /* a folder in front of the paths of all mapped files, or NULL */
};

/* As core_new(). */
int remote_open_core(const struct remote_core_options *options, struct remote *out_remote,
		     struct error *err);
void remote_close(struct remote *remote);
