/*
 * running - the registers and the stack of a thread that runs, as the kernel copies them.
 *
 * A sampling event is opened on the thread from outside, as `perf record --call-graph dwarf`
 * does, and closed after its first sample: nothing is put into the process.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "remote/walk.h"

struct running_copy {
	struct walk_registers registers;
	uint8_t *stack; /* from registers.sp on */
	size_t len;
};

/*
 * Waits for a sample at most so long.  0 and running_done(); -ETIMEDOUT: the thread got no
 * processor; or what perf_event_open(2) answers, mostly -EACCES.
 */
int running_copy(pid_t tid, int timeout_ms, struct running_copy *out_copy);
void running_done(struct running_copy *copy);

/*
 * Takes the copy out of one record of a ring, from behind its header.  -EBADMSG: there is none
 * in it.
 */
int running_parse(const void *record, size_t len, struct running_copy *out_copy);
