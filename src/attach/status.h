/*
 * status - the fields of /proc/PID/task/TID/status that attaching needs.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct attach_status {
	char state; /* 'R', 'S', 'D', 'T', 't', 'Z', … */
	pid_t tgid;
	pid_t inner_tid; /* as the thread's own PID namespace numbers it */
	pid_t debugger;  /* 0: none */
	unsigned threads;
	unsigned seccomp; /* 0: none; 1: strict; 2: a filter */
	uint64_t blocked, ignored, caught;
	uint64_t pending; /* of the thread and of the process */
	bool has_shadow_stack;
};

/* False if the text has no state. */
bool attach_status_parse(const char *text, struct attach_status *out_status);
/* Reads a thread's status: 0, or -errno: it has ended. */
int attach_status_read(pid_t pid, pid_t tid, struct attach_status *out_status);
bool attach_status_has_signal(uint64_t set, int signal);
