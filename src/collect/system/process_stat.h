/*
 * process_stat - the fields that are needed of /proc/<pid>/stat and /proc/<pid>/status (proc(5)).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_stat {
	char state;
	int parent;
	unsigned int flags;
	unsigned long user_ticks;
	long threads;
	unsigned long long start_ticks; /* since boot: with the pid, which process it is */
	int exit_code; /* as wait(2) gives it, from when the process begins to end; 0 before */
};

/* What a process may do, and what debugs it. */
struct process_status {
	pid_t debugger; /* attached by ptrace(2); 0: none */
	uid_t user;     /* effective */
	gid_t group;
	char groups[4096]; /* the supplementary ones: numbers with blanks between */
	bool has_all_groups;
};

#define PROCESS_EXITING 0x4U /* of flags: kernel, include/linux/sched.h, PF_EXITING */

/* False, and errno, if there is no such process, or it may not be read. */
bool process_stat_read(pid_t pid, struct process_stat *out_stat);
/* Whether such a process runs: one that ended, reaped or not, does not. */
bool process_is_alive(pid_t pid);
/* Its user time, in the ticks /proc counts; 0 if it cannot be read. */
uint64_t process_user_ns(pid_t pid);
bool process_status_read(pid_t pid, struct process_status *out_status);
/*
 * Its arguments, at most so many, cut where the text has no more room, without empty ones at the end;
 * NULL behind the last.  How many there are: 0 of a kernel thread, and of one that has ended.
 */
size_t process_command_read(pid_t pid, char *text, size_t size, char **out_arguments,
			    size_t most);
/* Whether a debugger is attached to it at this moment. */
bool process_has_debugger(pid_t pid);
/* process_status_read() of the file's text.  False if a line before the groups is missing. */
bool process_status_parse(const char *text, struct process_status *out_status);
/* Whether it is the effective group or one of the supplementary ones. */
bool process_status_has_group(const struct process_status *status, gid_t group);
