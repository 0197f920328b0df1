/*
 * process_stat - what /proc/<pid>/stat says of a process (proc(5)), of it what is needed.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct process_stat {
	char state;
	int parent;
	unsigned int flags;
	unsigned long user_ticks;
	long threads;
};

#define PROCESS_EXITING 0x4U /* of flags: kernel, include/linux/sched.h, PF_EXITING */

/* False, and errno, if there is no such process, or it may not be read. */
bool process_stat_read(pid_t pid, struct process_stat *out_stat);
