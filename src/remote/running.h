/*
 * running - the registers and stack of a running thread, as the kernel copies them.
 *
 * Opens a sampling event on the thread from outside, as `perf record --call-graph dwarf` does,
 * and closes it after the first sample: nothing is put into the process.
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
 * Waits up to timeout_ms for a sample. 0, and then running_done(); -ETIMEDOUT: the thread got
 * no processor; or the error of perf_event_open(2), mostly -EACCES.
 */
int running_copy(pid_t tid, int timeout_ms, struct running_copy *out_copy);
void running_done(struct running_copy *copy);

/* Parses one record of a ring, after its header. -EBADMSG: it contains no copy. */
int running_parse(const void *record, size_t len, struct running_copy *out_copy);
