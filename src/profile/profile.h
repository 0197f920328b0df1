/*
 * profile - the data model of reports: functions, frames, stacks and the weights on them.
 *
 * A sample is a weight on a stack; a traced call is a count and a time on a stack. Both are
 * stored here, so every report, filter and export handles both. Pure: no I/O, no clock, no
 * knowledge of where the data came from.
 *
 * Weights are nanoseconds. Ids are types, and 0 means "none" in each. All strings given are
 * copied. Nothing fails: out of memory ends the tool.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/call_times.h"
#include "profile/ids.h"
#include "profile/info.h"

enum language {
	LANGUAGE_NATIVE,
	LANGUAGE_PYTHON,
	LANGUAGE_RUBY,
	LANGUAGE_KERNEL,
	LANGUAGE_FATHOM, /* bracketed rows: [start-up], [exit], … */
	LANGUAGE_REGION, /* regions that programs named themselves: [region load] */
	LANGUAGE_COUNT,
};
/* "native", "python", "region", … as report --json shows them. */
const char *language_name(enum language language);
/* "Python", "Ruby", "kernel", for prose; NULL for languages that need no mention. */
const char *language_title(enum language language);
/* Whether its functions are in a source file rather than a module. */
bool language_is_interpreted(enum language language);

/*
 * What a thread does at a moment of the wall clock; numbered as in recordings. With other
 * clocks it is always running.
 */
enum thread_state {
	THREAD_STATE_RUNNING,
	THREAD_STATE_RUNNABLE,
	THREAD_STATE_GIL,
	THREAD_STATE_GVL,
	THREAD_STATE_LOCK,
	THREAD_STATE_SYSCALL,
	THREAD_STATE_STOPPED,
	THREAD_STATE_IO,
	THREAD_STATE_SLEEP,
	THREAD_STATE_WAIT,
	THREAD_STATE_COUNT,
};
/* "running", "io", … as in reports and JSON. */
const char *thread_state_name(enum thread_state state);
/* Stores the state of that name in *out_state; false: there is none. */
bool thread_state_parse(const char *name, enum thread_state *out_state);

struct module {
	const char *path;     /* as mapped; "[vdso]", "[kernel]" for modules without a file */
	uint8_t build_id[20]; /* the first build_id_len bytes */
	uint8_t build_id_len; /* 0: unknown */
	uint64_t start, end;  /* its first mapping, and the file offset there, for */
	uint64_t file_offset; /* exports; all 0 if unknown */
};

/* One row of a report: (language, module, qualified name, file, line of definition). */
struct function {
	enum language language;
	struct module_id module; /* none for Python and Ruby */
	const char *name;        /* Worker.run, Worker#run */
	const char *file;        /* NULL: unknown, or a C function named by an interpreter */
	uint32_t line;           /* of the definition; 0: unknown */
	/* "run", as Python's own profilers show it; NULL: same as name. */
	const char *plain_name;
};
/*
 * Whether it is a C function that an interpreter names, or another operation of the interpreter
 * (an operator, garbage collection); false for unknown functions.
 */
bool function_is_builtin(const struct function *function);

/* A function at a line: an element of a stack. An inlined call is a frame of its own. */
struct frame {
	struct function_id function;
	uint32_t line;    /* being executed; 0: unknown */
	const char *file; /* of that line, if it differs from the function's; else NULL */
	uint64_t address; /* in the module's own addresses (ELF virtual address); 0: none */
	bool is_inlined;  /* into the frame that calls it */
};

struct process {
	int pid;
	struct process_id parent;
	const char *name;
	const char *title;  /* its arguments, or what it replaced them with; NULL: unknown */
	uint64_t cpu_ns;    /* by the kernel; 0: unknown */
	uint64_t period_ns; /* of its sampling event; 0: not sampled */
	const char *unentered_reason; /* NULL: the agent was loaded in it until its end */
	bool is_too_brief;            /* that is the reason: no sample was due */
	uint64_t unentered_ns;        /* of cpu_ns; 0: unknown, or none */
	const char *interpreter;      /* "python 3.11.2"; NULL: none known */
};

struct thread {
	struct process_id process;
	int tid;
	const char *name;
	uint64_t cpu_ns; /* by the kernel; 0: unknown */
};

/* Time on one (stack, thread, state): adding the same twice sums it. */
struct weight {
	struct stack_id stack;
	struct thread_id thread;
	enum thread_state state;
	uint64_t ns;
	uint64_t samples; /* 0 for time not represented by samples */
	uint64_t calls;   /* 0 unless traced */
};

struct time_slots;
struct sequence;
struct profile;

/*
 * In a new profile's info, values where 0 would be a claim are FIGURE_UNKNOWN: start_unix_ns,
 * kernel_cpu_ns and sampling_cost_ns; all others are zero.
 */
struct profile *profile_new(void);
void profile_free(struct profile *profile);
void profile_freep(struct profile **profile);

/* Whether its weights are traced calls, and not samples. */
bool profile_is_trace(const struct profile *profile);

/* Facts about the recording as a whole: a plain struct to fill in and to read. */
struct profile_info *profile_info(struct profile *profile);
const struct profile_info *profile_get_info(const struct profile *profile);
/* Copies a string into the profile's memory, for the fields of profile_info. */
const char *profile_copy_string(struct profile *profile, const char *string);
/* Zeroed memory that lives as long as the profile, for the arrays of profile_info. */
void *profile_alloc(struct profile *profile, size_t size) __attribute__((returns_nonnull));

/* Whether a sum of weights exceeded 64 bits and was kept at the largest value. */
bool profile_is_saturated(const struct profile *profile);

/*
 * Adding: the same content gives the same id (processes and threads are always new; a module is
 * identified by path and build id). Invalid ids count as none, without losing time: a frame
 * without a function is "[unknown]", a weight without a stack is put on "[no stack]".
 */
struct module_id profile_add_module(struct profile *profile, const struct module *module);
struct function_id profile_add_function(struct profile *profile,
					const struct function *function);
struct frame_id profile_add_frame(struct profile *profile, const struct frame *frame);
struct stack_id profile_add_stack(struct profile *profile, struct stack_id parent,
				  struct frame_id frame);
struct process_id profile_add_process(struct profile *profile, const struct process *process);
struct thread_id profile_add_thread(struct profile *profile, const struct thread *thread);
void profile_add_weight(struct profile *profile, const struct weight *weight);
void profile_add_calls(struct profile *profile, const struct weight *weight,
		       const struct call_times *times);

/* When samples were taken; empty unless requested. Filled in by the recording's loader. */
struct time_slots *profile_time_slots(struct profile *profile);
const struct time_slots *profile_get_time_slots(const struct profile *profile);

/*
 * Removes each weight, and each row of the time slots, for which keeps() is false, as if it had
 * never been added; and the whole sequence.
 */
void profile_keep_weights(struct profile *profile,
			  bool (*keeps)(const void *context, const struct weight *weight),
			  const void *context);

/*
 * Records that a part of a weight, already added, was sampled at this time. Calls may be in any
 * order of time, all before profile_close_sequence(). For the intervals of times: intervals.h.
 */
void profile_add_step(struct profile *profile, const struct weight *weight, int64_t time_ns);
/* The time between ticks of the sampling clock, in nanoseconds; infinite if unknown. */
double profile_tick_ns(const struct profile *profile);
void profile_close_sequence(struct profile *profile);
const struct sequence *profile_get_sequence(const struct profile *profile);

/*
 * Lookups: ids run from 1 to the count, a parent's is smaller than its child's; an unknown id
 * gives NULL. Pointers live as long as the profile, until the next add.
 */
size_t profile_module_count(const struct profile *profile);
size_t profile_function_count(const struct profile *profile);
size_t profile_frame_count(const struct profile *profile);
size_t profile_stack_count(const struct profile *profile);
size_t profile_process_count(const struct profile *profile);
size_t profile_thread_count(const struct profile *profile);
size_t profile_weight_count(const struct profile *profile);
const struct module *profile_get_module(const struct profile *profile, struct module_id id);
const struct function *profile_get_function(const struct profile *profile,
					    struct function_id id);
const struct frame *profile_get_frame(const struct profile *profile, struct frame_id id);
const struct stack *profile_get_stack(const struct profile *profile, struct stack_id id);
const struct process *profile_get_process(const struct profile *profile, struct process_id id);
const struct thread *profile_get_thread(const struct profile *profile, struct thread_id id);
/* i from 0 to the count - 1. */
const struct weight *profile_get_weight(const struct profile *profile, size_t i);
/* The times of that weight's calls, if they were added with times; else derived from its ns. */
struct call_times profile_get_call_times(const struct profile *profile, size_t i);
