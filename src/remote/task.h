/*
 * task - what /proc says of one thread: its state, its system call, how often it was switched.
 *
 * Parsers of the kernel's text are apart from reading, so that they can be tested.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TASK_NAME_SIZE \
	64 /* 15 characters of a process's own thread; kernel threads have more */

/* The line of /proc/PID/task/TID/syscall: Linux, fs/proc/base.c, proc_pid_syscall(). */
struct task_call {
	bool is_running; /* no more is known */
	int64_t number;  /* of the system call; -1: it is blocked, but in none */
	uint64_t arguments[6];
	uint64_t sp, pc;
};

/* /proc/PID/task/TID/status, as far as it is needed. */
struct task_status {
	char state;        /* 'R', 'S', 'D', 'Z', …; 0: unknown */
	pid_t tgid;        /* the process */
	pid_t inner_tid;   /* as the thread's own PID namespace numbers it */
	pid_t tracer;      /* 0: none */
	uint64_t switches; /* voluntary and not */
	uint32_t uid;      /* effective */
	bool has_uid;
	char name[TASK_NAME_SIZE];
};

/* False when it is no such line. */
bool task_parse_call(const char *line, struct task_call *out_call);
/* False when the text has no state. */
bool task_parse_status(const char *text, struct task_status *out_status);

/*
 * Read of a thread; -errno.  -ESRCH or -ENOENT: it has ended.  file: "syscall", "wchan", …;
 * the text is cut at size - 1 bytes and has no newline at its end.
 */
int task_read_text(pid_t pid, pid_t tid, const char *file, char *text, size_t size);
int task_read_call(pid_t pid, pid_t tid, struct task_call *out_call);
int task_read_status(pid_t pid, pid_t tid, struct task_status *out_status);

/* Whether a thread that was read like this before and after rested in between. */
bool task_rested(const struct task_call *a, const struct task_status *before,
		 const struct task_call *b, const struct task_status *after);

/* The threads of a process, by number; *out_tids is the caller's.  -errno. */
int task_list(pid_t pid, pid_t **out_tids, size_t *out_count);
