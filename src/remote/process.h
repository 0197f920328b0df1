/*
 * process - a process that is read from outside: its memory, what it has mapped, and which
 * interpreters are in it.
 *
 * open.h makes one.
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
#include "remote/sockets.h"

struct core;
struct local;
struct maps;
struct remote_python;
struct remote_ruby;
struct unwind_file;

/* One that runs, or a core file that was one. */
struct remote {
	pid_t pid;         /* of a core file: as it was */
	int fd;            /* /proc/PID/mem; of a core file: -1 */
	struct core *core; /* NULL: it runs */
	struct mem mem;
	struct maps *maps;
	struct remote_images images;
	struct unwind_file *go_file; /* of a program of Go, whose images have it; or NULL */
	struct recent rules;         /* of addresses: walk.c */
	struct recent *shared_rules; /* of places in files, of several processes; NULL: none */
	struct intern strings;       /* names and files */
	struct intern labels;        /* what threads waited for: wait.c */
	struct data_names data_names;
	struct postgres postgres;
	struct table mutexes; /* by address: what threads were found to wait for as one */
	struct sockets sockets;
	struct remote_python *python; /* NULL: there is none */
	struct remote_ruby *ruby;
	const char *why_no_python, *why_no_ruby; /* there is one, but it cannot be walked */
	bool has_locals;                         /* those of Python's frames are wanted */
	struct local *locals;                    /* of all frames that were read */
	size_t local_count, local_capacity;
	uint64_t walks_until_ns; /* by stack_clock_ns(): its stacks are cut then; 0: never */
	int patience_ms;         /* how long it may still be waited for threads that run */
	char *root;              /* in front of the paths of one that runs: "/proc/PID/root" */
};

/*
 * Where we can read the file of an image: *out_path is the caller's.  What is there may be
 * another file by now: its build id says so.
 */
char *remote_image_path(const struct remote *remote, const struct remote_image *image);
/* The text, which may be NULL, kept once as long as the process is open. */
const char *remote_keep(struct remote *remote, const void *bytes, size_t len);

struct name_text;
/* NULL if it is empty. */
const char *remote_keep_name(struct remote *remote, const struct name_text *text);
