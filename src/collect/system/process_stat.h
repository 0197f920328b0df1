/*
 * process_stat - reads /proc/<pid>/stat, status and cmdline (proc(5)): the fields that we need.
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
	unsigned long long start_ticks; /* since boot; with the pid, identifies the process */
	int exit_code; /* as wait(2) gives it, from when the process begins to exit; 0 before */
};

/* The rights of a process, and its debugger. */
struct process_status {
	pid_t debugger; /* attached by ptrace(2); 0: none */
	uid_t user;     /* effective */
	gid_t group;
	char groups[4096]; /* supplementary: numbers separated by blanks */
	bool has_all_groups;
};

#define PROCESS_EXITING 0x4U /* in flags: kernel, include/linux/sched.h, PF_EXITING */

/* False, and errno, if there is no such process, or it may not be read. */
bool process_stat_read(pid_t pid, struct process_stat *out_stat);
/* False for a process that has ended, reaped or not. */
bool process_is_alive(pid_t pid);
/* Its user time in ns, to a tick; 0 if it cannot be read. */
uint64_t process_user_ns(pid_t pid);
bool process_status_read(pid_t pid, struct process_status *out_status);
/*
 * Reads its arguments into text, cut at size, and points out_arguments at them: at most `most`,
 * without empty ones at the end, then NULL.  Returns their number: 0 for a kernel thread, and
 * for a process that has ended.
 */
size_t process_command_read(pid_t pid, char *text, size_t size, char **out_arguments,
			    size_t most);
/* Whether a debugger is attached to the process at this moment. */
bool process_has_debugger(pid_t pid);
/*
 * process_status_read() from the file's text.  False if one of the lines TracerPid, Uid or Gid
 * is missing.
 */
bool process_status_parse(const char *text, struct process_status *out_status);
/* Whether group is the effective group of the process, or one of its supplementary groups. */
bool process_status_has_group(const struct process_status *status, gid_t group);
