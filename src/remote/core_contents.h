/*
 * core_contents - what a core file contains: memory, mapped files, threads and their registers,
 * the signal.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/table.h"
#include "remote/task.h"
#include "remote/registers.h"

/* Memory of the process (PT_LOAD); bytes beyond file_size are not in the core. */
struct core_segment {
	uint64_t start, end;        /* addresses */
	uint64_t offset, file_size; /* in the core */
	bool is_readable, is_writable, is_executable;
};

/* A file that was mapped (NT_FILE). */
struct core_mapping {
	uint64_t start, end;
	uint64_t file_offset; /* of start */
	const char *path;     /* lives as long as the core; some end in " (deleted)" */
	uint32_t file;        /* the path's number, from 1 */
};

struct core_thread {
	pid_t tid;  /* as the thread's own PID namespace numbered it */
	int signal; /* that it was to receive; 0: none */
	struct walk_registers registers;
	struct task_call call; /* the system call it waited in */
	bool was_blocked;      /* in that call: the kernel interrupted it for the core */
};

/* The fields of siginfo_t that are shown. */
struct core_signal {
	int number; /* 0: none, as of a core that a debugger wrote of a running process */
	int code;
	uint64_t address; /* si_addr of faults */
	pid_t sender;     /* si_pid, of a signal that a process sent; 0: none */
};

#define CORE_COMMAND_SIZE 81

struct core_file {
	int fd;
	uint64_t size;    /* of the core file */
	uint64_t claimed; /* bytes its segments need; more than size: it is truncated */
	pid_t pid;        /* as it was; 0: not known */
	char name[17];    /* of the process (comm) */
	char command[CORE_COMMAND_SIZE]; /* its first 80 bytes, arguments separated by blanks */
	struct core_signal signal;
	uint64_t program_headers, vdso; /* addresses; 0: not known */
	struct core_segment *segments;  /* by address */
	size_t segment_count;
	struct core_mapping *mappings; /* by address */
	size_t mapping_count;
	struct core_thread *threads; /* first the one that the signal was for */
	size_t thread_count, thread_capacity;
	struct intern paths; /* numbers them */
};
