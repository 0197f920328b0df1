/*
 * task - reads /proc of one thread: its state, its system call, its context switches.
 *
 * Parsing is separate from reading, so that it can be tested.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* 15 characters of a process's own thread; kernel threads have more. */
#define TASK_NAME_SIZE 64

/* The line of /proc/PID/task/TID/syscall: Linux, fs/proc/base.c, proc_pid_syscall(). */
struct task_call {
	bool is_running; /* nothing else is known */
	int64_t number;  /* system call; -1: blocked outside of one */
	uint64_t arguments[6];
	uint64_t sp, pc;
};

/* The needed part of /proc/PID/task/TID/status. */
struct task_status {
	char state;        /* 'R', 'S', 'D', 'Z', …; 0: unknown */
	pid_t tgid;        /* the process */
	pid_t inner_tid;   /* as the thread's own PID namespace numbers it */
	pid_t tracer;      /* 0: none */
	uint64_t switches; /* voluntary and involuntary */
	/* The size of the table of descriptors, which may be empty. */
	uint64_t descriptors_most;
	uint32_t uid; /* effective */
	bool has_uid;
	char name[TASK_NAME_SIZE];
};

/* False if the line has another form. */
bool task_parse_call(const char *line, struct task_call *out_call);
/* False when the text has no state. */
bool task_parse_status(const char *text, struct task_status *out_status);

/*
 * Read a thread's file; -errno. -ESRCH or -ENOENT: it has ended. file: "syscall", "wchan", …;
 * the text is cut at size - 1 bytes, and without a final newline.
 */
int task_read_text(pid_t pid, pid_t tid, const char *file, char *text, size_t size);
int task_read_call(pid_t pid, pid_t tid, struct task_call *out_call);
int task_read_status(pid_t pid, pid_t tid, struct task_status *out_status);

/* Whether a thread stayed blocked between these two readings. */
bool task_rested(const struct task_call *a, const struct task_status *before,
		 const struct task_call *b, const struct task_status *after);

/* The threads of a process, sorted by id; *out_tids is the caller's. -errno. */
int task_list(pid_t pid, pid_t **out_tids, size_t *out_count);
/*
 * The first thread that has not ended, whose memory and files can be read; 0: all have. Not always the
 * first one: main() may have called pthread_exit().
 */
pid_t task_alive(pid_t pid);
