/*
 * recording - what a recording (*.fathom) holds, as plain structs.
 *
 * docs/recording.md is the schema in words.  Times are nanoseconds of
 * CLOCK_MONOTONIC since the recording's start.  Row ids are given by the writer,
 * from 1; 0 means none.  Strings in structs that a reader hands out live until
 * the next call on that reader.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDING_UNKNOWN INT64_MIN /* a figure that was not measured: NULL in the database */

/* The reason of one that was not entered for being brief: agents may say hello late. */
#define RECORDING_TOO_BRIEF "too little CPU time for a sample"

/* A process image: exec makes a new one with the same pid. */
struct recording_process {
	uint32_t id;
	uint32_t parent; /* process id (a row's, not a pid) */
	int pid;
	const char *name;             /* comm */
	const char *exe;              /* NULL: unknown */
	int64_t start_ns, end_ns;     /* end: RECORDING_UNKNOWN while it runs */
	int64_t period_ns;            /* RECORDING_UNKNOWN: not sampled */
	const char *unentered_reason; /* NULL: the agent was in it */
	int exit_status;              /* as wait(2) gives it; -1 unknown */
	const char *title;            /* its arguments, or what it wrote there; NULL: unknown */
};

/* The CPU account stands on threads: all in ns, RECORDING_UNKNOWN where not measured. */
struct recording_thread {
	uint32_t id;
	uint32_t process;
	int tid;
	const char *name;
	int64_t start_ns, end_ns;
	int64_t cpu_ns;              /* what the kernel charged to it in this image */
	int64_t startup_ns;          /* before the agent's first instruction */
	int64_t exit_ns;             /* after its last sample */
	int64_t unentered_ns;        /* its process was not entered */
	int64_t kernel_unsampled_ns; /* kernel time no sample could stand for */
	int64_t traced_ns;           /* while a debugger traced it, and it was not sampled */
};

enum module_kind {
	MODULE_KIND_ELF, /* a file */
	MODULE_KIND_VDSO,
	MODULE_KIND_JIT,     /* anonymous executable memory: frames hold plain addresses */
	MODULE_KIND_UNKNOWN, /* nothing was mapped there: frames hold plain addresses */
	MODULE_KIND_KERNEL,
	MODULE_KIND_INTERPRETED, /* Python or Ruby: named when recorded */
};

struct recording_module {
	uint32_t id;
	enum module_kind kind;
	const char *path;
	uint8_t build_id[20];
	uint8_t build_id_len;
};

struct recording_mapping {
	uint32_t process, module;
	uint64_t start, end, file_offset;
	int64_t from_ns, to_ns; /* to: RECORDING_UNKNOWN while it stands */
};

/*
 * A place in a module: for ELF files the file offset, else the address.  Return
 * addresses were moved one byte back before they came here, so a frame is always the
 * address to look up.  JIT and unknown modules are per process.
 */
struct recording_frame {
	uint32_t id;
	uint32_t module;
	uint64_t address;
};

struct recording_stack {
	uint32_t id;
	uint32_t parent; /* the callers; 0 for an outermost frame */
	uint32_t frame;
};

struct recording_sample {
	int64_t time_ns;
	uint32_t thread;
	uint32_t stack;
	uint32_t state;  /* enum thread_state of the profile; 0 running */
	uint32_t ending; /* enum walk_status: why the walk ended */
	int64_t weight_ns;
};

#define RECORDING_UNCOUNTED_KINDS 3
/*
 * Traced calls of a stack's innermost function, by the callers below it.  No stack: the time in
 * which none was being executed, from the thread's first event to its last.
 */
struct recording_calls {
	uint32_t id;
	uint32_t thread;
	uint32_t stack;
	uint64_t calls;
	int64_t self_ns;
	int64_t shortest_ns, longest_ns; /* of a call that ended; RECORDING_UNKNOWN: none has */
	uint32_t kind;                   /* of the callee: whose costs are its calls' */
	uint64_t misses;                 /* of the calls: their node was searched for */
	uint64_t uncounted
		[RECORDING_UNCOUNTED_KINDS]; /* events in it that made no call, by kind */
	int64_t left_out_ns; /* of the thread, where there is no stack: in no row's time */
};

/*
 * What measuring a call costs in a process: in its own time, and in its caller's; and how long
 * what it executes itself takes, of what it would.  A kind is of those that recording_calls has,
 * or RECORDING_UNCOUNTED and the index of an event that makes no call, whose cost is inside_ps.
 */
#define RECORDING_UNCOUNTED 64U
struct recording_cost {
	uint32_t id;
	uint32_t process;
	uint32_t kind;
	int64_t inside_ps, outside_ps;
	int64_t inside_miss_ps, outside_miss_ps; /* where the node was searched for */
	int64_t spread_ps; /* of both together, either way, as calibration found it */
	int64_t stretch_permille;
	/*
	 * As long the processor took for a piece of work in the course of the program, of what it
	 * took when costs were found, which are times that already; RECORDING_UNKNOWN.
	 */
	int64_t pace_permille;
};

/* A function as symbolized. */
struct recording_function {
	uint32_t id;
	uint32_t language; /* enum language of the profile; 0 native */
	uint32_t module;   /* 0: none */
	const char *name;
	const char *file; /* NULL: unknown */
	uint32_t line;    /* of the definition */
};

/* What a frame means: depth 0 is the innermost inlined call, the highest depth the
 * function whose code it is. */
struct recording_location {
	uint32_t frame;
	uint32_t depth;
	uint32_t function;
	const char *file; /* of the line being executed */
	uint32_t line;
	uint64_t address; /* ELF virtual address, for exports; 0 if unknown */
};

/* The profile's LANGUAGE_PYTHON and LANGUAGE_RUBY, for rooms that may not know the profile. */
#define RECORDING_LANGUAGE_PYTHON 1U
#define RECORDING_LANGUAGE_RUBY   2U
#define RECORDING_LANGUAGE_KERNEL 3U
#define RECORDING_LANGUAGE_FATHOM 4U /* its own rows, in brackets */
#define RECORDING_LANGUAGE_REGION 5U /* a region that the program named itself */

/*
 * A function of an interpreted program.  A frame of a MODULE_KIND_INTERPRETED module has
 * the address `id << 32 | line`, the line being executed or 0.
 */
struct recording_code {
	uint32_t id;
	uint32_t language;          /* enum language of the profile */
	const char *name;           /* run */
	const char *qualified_name; /* Worker.run; NULL: the version does not have it */
	const char *file; /* NULL: a C function that the interpreter calls by this name */
	uint32_t line;    /* of the definition; 0 unknown */
};

/* An interpreter that a process has mapped. */
struct recording_interpreter {
	uint32_t id;
	uint32_t process;
	uint32_t module; /* the ELF file with its loop */
	uint32_t language;
	const char *version; /* "3.11.2" */
	const char
		*why_not; /* a sentence: why its frames are not in the stacks; NULL: they are */
};

/*
 * From this moment to its next row a thread waited with that stack for what the owner held, or for
 * its end, and that waited in owner_stack; 0: it ran.  owner 0: it is not known; stack 0: the wait is
 * over (up to version 7: owner 0).
 */
struct recording_owner {
	int64_t time_ns;
	uint32_t thread, owner, stack, owner_stack;
};

/* Weights summed by thread, stack and state. */
struct recording_sum {
	uint32_t thread, stack, state;
	int64_t weight_ns;
	uint64_t samples;
};
