/*
 * tree - the process images of a session, and which one a pid has at this moment.
 *
 * Updated by the kernel's reports (sideband), or, where perf events are refused, from /proc at
 * an agent's handshake.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/table.h"

struct image;
struct module_place;
struct recording_writer;
struct sideband_event;

/* A value of running_threads: not counted; the process's pidfd shows its end. */
#define TREE_THREADS_UNKNOWN (1U << 30)

struct tree {
	struct recording_writer *writer;
	uint64_t session_start_ns;
	struct table by_pid;   /* to struct image *, of the images that run */
	struct image **images; /* those that run */
	size_t count, capacity;
	uint32_t serial;
	struct intern paths; /* of mapped files */
	bool has_sideband;
	const char *agent_path; /* the file of injected agents; NULL: none are injected */
	bool leaves_children;   /* later child processes are not recorded */
	/* Called once for each image, after it has ended; the image is freed afterwards. */
	void (*ended)(void *context, struct image *image);
	/* Called for each executable mapping of an image; NULL: not wanted. */
	void (*mapped)(void *context, struct image *image, const struct module_place *place);
	void *context;
	uint64_t *last_ended_cpu_ns; /* set by tree_end() while an exec is taken in */
};

void tree_init(struct tree *tree, struct recording_writer *writer, uint64_t session_start_ns);
/* Frees the remaining images, without calling ended(). */
void tree_close(struct tree *tree);

/* The image that pid runs at this moment, or NULL. */
struct image *tree_find(const struct tree *tree, pid_t pid);
/* Adds a new image of pid; the one it had, if any, has ended. */
struct image *tree_add(struct tree *tree, pid_t pid, struct image *parent, uint64_t time_ns);
/* The image has ended. */
void tree_end(struct tree *tree, struct image *image, uint64_t time_ns);
/* The session ends before the image does: the same, without an end time. */
void tree_leave(struct tree *tree, struct image *image);
void tree_take(struct tree *tree, const struct sideband_event *event);

/* Adds what /proc/<pid>/maps shows now, as of time_ns.  False if it cannot be read. */
bool tree_read_maps(struct tree *tree, struct image *image, uint64_t time_ns);
/* The image of pid's parent process, as /proc says, or NULL. */
struct image *tree_find_parent(const struct tree *tree, pid_t pid);
/* Adds the session's command: its exec may not be reported. */
void tree_add_command(struct tree *tree, pid_t pid, uint64_t time_ns);
/* Adds a thread that runs already, with its name. */
void tree_read_thread(struct tree *tree, struct image *image, pid_t tid, uint64_t time_ns);
/* Reads its name from /proc. */
void tree_read_name(struct tree *tree, struct image *image);
/* Reads its name and executable from /proc, where there is no sideband. */
void tree_read_process(struct tree *tree, struct image *image);
