/*
 * attach_internal - what the files of attach share: a process that the agent is brought into.
 */
#pragma once
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "attach/stub.h"

/* Of the thread that is not libc's. */
#define ATTACH_CLONE_FLAGS                                                                  \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | \
	 CLONE_SETTLS | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)
/* Of the new thread, and of this side for it. */
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
 * Has one of the process's threads, which is stopped for that, make a thread that loads the agent
 * (inject_x86_64.c).  -ENOTSUP: none of them can be used.
 */
int attach_inject(struct attach *attach, const struct attach_libc *libc, struct error *err);
