/*
 * open - opens a running process, or the core file of one, for reading.
 *
 * The process is not stopped, and nothing is written into it.
 */
#pragma once
#include <sys/types.h>

struct error;
struct interpreter_files;
struct remote;

/*
 * On success remote_close(). Else a negative errno and a sentence with advice: there is no such
 * process, it is a zombie or a kernel thread, or we may not read it. files: shared with other
 * processes, and outlives the remote; NULL: files are read for this process alone.
 */
int remote_open(pid_t pid, struct interpreter_files *files, struct remote *out_remote,
		struct error *err);

/*
 * Reads the mappings again after the process has mapped other files; interpreters that were
 * found are kept. Much cheaper than opening again. Fails like remote_open(); then nothing has
 * changed.
 */
int remote_map_again(struct remote *remote, struct error *err);

struct remote_core_options {
	const char *path;
	const char *program; /* replaces the program's file; NULL: it is read at its own path */
	const char *root;    /* prefix of the paths of all mapped files, or NULL */
};

/* As core_new(). */
int remote_open_core(const struct remote_core_options *options, struct remote *out_remote,
		     struct error *err);
void remote_close(struct remote *remote);
