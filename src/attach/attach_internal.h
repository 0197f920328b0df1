/*
 * attach_internal - struct attach, and what the files of attach/ share.
 */
#pragma once
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "attach/stub.h"

/* For the clone of the first thread, which libc does not create. */
#define ATTACH_CLONE_FLAGS                                                                  \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | \
	 CLONE_SETTLS | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)
/* How long the new threads and this side wait for each other. */
#define ATTACH_PATIENCE_MS 5000

struct attach_libc;
struct attach_options;
struct error;

struct attach {
	pid_t pid;
	uint64_t code, data; /* in the target */
	uint64_t stopped_ns;
	bool was_mapped;
	const struct attach_options *options; /* until attach_begin() returns */
};

static inline uint64_t block_place(const struct attach *attach, size_t offset)
{
	return attach->data + offset;
}

#define BLOCK_PLACE(attach, member) block_place(attach, offsetof(struct stub_block, member))

static inline void attach_pause_ns(long ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

/*
 * Makes one of the process's threads, stopped for that, start a thread that loads the agent
 * (inject_x86_64.c).  -ENOTSUP: none of the threads can be used.
 */
int attach_inject(struct attach *attach, const struct attach_libc *libc, struct error *err);
