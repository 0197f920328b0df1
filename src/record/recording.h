/*
 * recording - the contents of a recording (*.fathom) as plain structs.
 *
 * docs/recording.md describes the schema. Times are nanoseconds of CLOCK_MONOTONIC since the
 * recording's start. The writer assigns row ids, from 1; 0 means none. Strings in structs from
 * a reader live until the next call on that reader.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDING_UNKNOWN INT64_MIN /* a value that was not measured: NULL in the database */

/* unentered_reason of a process that ended before its agent's handshake, which may be late. */
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
	const char *unentered_reason; /* NULL: the agent was loaded in it */
	int exit_status;              /* as wait(2) gives it; -1 unknown */
	const char *title; /* its arguments, or what it replaced them with; NULL: unknown */
};

/* Threads have the account of CPU time: all in ns, RECORDING_UNKNOWN where not measured. */
struct recording_thread {
	uint32_t id;
	uint32_t process;
	int tid;
	const char *name;
	int64_t start_ns, end_ns;
	int64_t cpu_ns;              /* charged by the kernel, in this process image */
	int64_t startup_ns;          /* before the agent's first instruction */
	int64_t exit_ns;             /* after its last sample */
	int64_t unentered_ns;        /* in a process without the agent */
	int64_t kernel_unsampled_ns; /* kernel time that no sample represents */
	int64_t traced_ns;           /* under a debugger's ptrace, without sampling */
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
	int64_t from_ns, to_ns; /* to: RECORDING_UNKNOWN while it exists */
};

/*
 * A place in a module: for ELF files the file offset, else the address. Return addresses have
 * already been moved one byte back, so a frame is always the address to look up. JIT and
 * unknown modules are per process.
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
 * Traced calls of a stack's innermost function, with the stack's callers. No stack: the time
 * during which no traced function was executing, from the thread's first event to its last.
 */
struct recording_calls {
	uint32_t id;
	uint32_t thread;
	uint32_t stack;
	uint64_t calls;
	int64_t self_ns;
	int64_t shortest_ns, longest_ns; /* of an ended call; RECORDING_UNKNOWN: none ended */
	uint32_t kind;                   /* of the callee: which costs apply to its calls */
	uint64_t misses;                 /* calls whose node had to be searched for */
	uint64_t uncounted
		[RECORDING_UNCOUNTED_KINDS]; /* events during it that made no call, by kind */
	int64_t left_out_ns; /* of the thread, if there is no stack: in no row's time */
};

/*
 * What measuring a call costs in a process: within the call's own time, and within its
 * caller's; and by how much traced code runs slower by itself (stretch). kind is one of
 * recording_calls', or RECORDING_UNCOUNTED plus the index of a kind of event that makes no
 * call, whose cost is inside_ps.
 */
#define RECORDING_UNCOUNTED 64U
struct recording_cost {
	uint32_t id;
	uint32_t process;
	uint32_t kind;
	int64_t inside_ps, outside_ps;
	int64_t inside_miss_ps, outside_miss_ps; /* if the node had to be searched for */
	int64_t spread_ps; /* of the two summed, plus or minus, as calibration found it */
	int64_t stretch_permille;
	/*
	 * Processor speed: the time a fixed piece of work took while the program ran, relative
	 * to its time during calibration; costs are already scaled by it. Or RECORDING_UNKNOWN.
	 */
	int64_t pace_permille;
};

/* A symbolized function. */
struct recording_function {
	uint32_t id;
	uint32_t language; /* enum language of the profile; 0 native */
	uint32_t module;   /* 0: none */
	const char *name;
	const char *file; /* NULL: unknown */
	uint32_t line;    /* of the definition */
};

/*
 * One entry of a frame's inlined calls: depth 0 is the innermost inlined call, the highest
 * depth the function that contains the code.
 */
struct recording_location {
	uint32_t frame;
	uint32_t depth;
	uint32_t function;
	const char *file; /* of the line being executed */
	uint32_t line;
	uint64_t address; /* ELF virtual address, for exports; 0 if unknown */
};

/* The profile's LANGUAGE_PYTHON and so on, for folders that may not include profile/. */
#define RECORDING_LANGUAGE_PYTHON 1U
#define RECORDING_LANGUAGE_RUBY   2U
#define RECORDING_LANGUAGE_KERNEL 3U
#define RECORDING_LANGUAGE_FATHOM 4U /* fathom's own rows, in brackets */
#define RECORDING_LANGUAGE_REGION 5U /* a region that the program named */

/*
 * A function of an interpreted program.  A frame of a MODULE_KIND_INTERPRETED module has
 * the address `id << 32 | line`, the line being executed or 0.
 */
struct recording_code {
	uint32_t id;
	uint32_t language;          /* enum language of the profile */
	const char *name;           /* run */
	const char *qualified_name; /* Worker.run; NULL: the version does not have it */
	const char *file; /* NULL: a C function that the interpreter knows by this name */
	uint32_t line;    /* of the definition; 0 unknown */
};

/* An interpreter that a process has mapped. */
struct recording_interpreter {
	uint32_t id;
	uint32_t process;
	uint32_t module; /* the ELF file with its loop */
	uint32_t language;
	const char *version; /* "3.11.2" */
	const char *why_not; /* a sentence: why stacks lack its frames; NULL: they do not */
};

/*
 * The state from time_ns until the thread's next row: it waits with that stack for what the
 * owner holds, or for the owner's end, while the owner waits in owner_stack; 0: the owner runs.
 * owner 0: unknown; stack 0: the wait is over (up to version 7: owner 0).
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
