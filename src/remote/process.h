/*
 * process - a process that is read from outside: its memory, its mappings and its interpreters.
 *
 * Opened by open.h.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/recent.h"
#include "base/table.h"
#include "remote/images.h"
#include "remote/kept.h"
#include "remote/memory.h"
#include "remote/pthread_lists.h"
#include "remote/sockets.h"

struct core;
struct interpreter_files;
struct local;
struct maps;
struct remote_python;
struct remote_ruby;
struct unwind_file;

/* A running process, or the core file of one. */
struct remote {
	pid_t process; /* of a core file: the process's at that time, as pid */
	pid_t pid;     /* its first thread that has not ended: its files in /proc can be read */
	int fd;        /* /proc/PID/mem; of a core file: -1 */
	struct core *core; /* NULL: the process runs */
	struct mem mem;
	struct maps *maps;
	struct remote_images images;
	struct pthread_lists pthread_lists; /* of these images */
	struct interpreter_files *files;
	bool owns_files;
	struct unwind_file *go_file; /* of a Go program, whose images use it; or NULL */
	struct recent rules;         /* unwind rules by address: walk.c */
	struct recent
		*shared_rules; /* likewise by place in a file, of all processes; or NULL */
	struct intern strings; /* names and paths */
	struct intern labels;  /* descriptions of waits: wait.c */
	struct data_names data_names;
	struct postgres postgres;
	struct table mutexes;  /* by address: what waits were found to be on mutexes */
	struct table acquires; /* by code object and its names: python_acquired.c */
	struct sockets sockets;
	struct remote_python *python; /* NULL: there is none */
	struct remote_ruby *ruby;
	bool has_few_descriptors; /* what an epoll watches may be listed at each wait */
	const char *why_no_python, *why_no_ruby; /* found, but cannot be walked */
	bool has_locals;      /* local variables of Python frames are wanted */
	struct local *locals; /* of all frames read so far */
	size_t local_count, local_capacity;
	uint64_t walks_until_ns; /* by stack_clock_ns(): ends all walks then; 0: no limit */
	int patience_ms;         /* how much longer running threads may be waited for */
	char *root;              /* prefix of a running process's paths: "/proc/PID/root" */
};

/*
 * A path where we can read the image's file: *out_path is the caller's. It may be another file
 * by now: compare its build id.
 */
char *remote_image_path(const struct remote *remote, const struct remote_image *image);
/* Stores the text, which may be NULL, once; it lives as long as the process is open. */
const char *remote_keep(struct remote *remote, const void *bytes, size_t len);

struct name_text;
/* Likewise; NULL if the text is empty. */
const char *remote_keep_name(struct remote *remote, const struct name_text *text);
