/*
 * info - facts about a recording as a whole: how it was made, the CPU account, what was lost.
 *
 * Plain data for reports and exports. A value that is unknown, or does not apply to the clock
 * or the mode, has its has_ flag false or is FIGURE_UNKNOWN.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIGURE_UNKNOWN UINT64_MAX

/* One row of the tally of why stack walks ended. */
struct stack_tally {
	const char *reason; /* as WALK_STATUS names it, lower case: "complete", … */
	const char *sentence;
	uint64_t samples;
};

/* An interpreter that processes had mapped. */
struct interpreter {
	const char *language; /* "python", as language_name() has it */
	const char *version;  /* "3.11.2" */
	const char *path;     /* of the executable or library that contains it */
	const char *why_not;  /* why stacks lack its frames; NULL: they do not */
	size_t process_count;
};

struct profile_info {
	const char *const *command; /* argv */
	size_t command_count;
	const char *pids;  /* "[12,13]": processes attached to; NULL: the command was run */
	const char *mode;  /* "sample", "trace" */
	const char *clock; /* "cpu", "user", "wall" */
	const char *const
		*only;     /* patterns of the functions to count; others are not counted */
	size_t only_count; /* 0: all functions */
	bool is_wall;      /* samples of the wall clock: times are parts of threads' lives */
	uint64_t rate_hz;
	const char *overhead; /* "1%": an overhead budget, instead of a rate; NULL: none */
	/*
	 * Of a trace with a budget: how long its processes left calls out, and their total
	 * lifetime.
	 */
	uint64_t throttled_ns, traced_life_ns;
	uint64_t starts, starts_ns; /* of processes with the agent, and their time */
	uint64_t period_ns;         /* the first process's */
	const char *trigger;        /* "sigtrap", "timer" */
	const char *trigger_why;    /* a sentence */
	bool is_unfinished;         /* still being written, or its recorder was killed */
	bool is_being_written;
	uint64_t start_unix_ns; /* when it began, since 1970; FIGURE_UNKNOWN */
	uint64_t wall_ns;
	/* Of all processors during the recording; FIGURE_UNKNOWN. */
	uint64_t machine_ns, machine_idle_ns;
	uint64_t samples;
	uint64_t calls; /* traced calls */

	/* The cost of measuring. */
	bool is_corrected;       /* the cost is subtracted from the times */
	uint64_t raw_ns;         /* the times including the cost */
	uint64_t measuring_ns;   /* the cost within raw_ns */
	uint64_t uncertainty_ns; /* of measuring_ns, plus or minus */
	uint64_t clipped_ns;     /* cost that exceeded the time it was to be subtracted from */
	uint64_t left_out_ns;    /* never in any time: for naming callees */
	uint64_t unknown_calls;  /* calls of unknown cost: their times are as measured */
	/*
	 * How many times longer the processor took for the same work while the program ran than
	 * when the cost of a call was calibrated; 0: unknown.
	 */
	double slowdown;

	uint64_t lost; /* samples that were taken and dropped */

	/* The CPU account: kernel_cpu = sampled + thread_only + lost + startup + exit + unentered +
	 * kernel_unsampled + traced + paused + unexplained, the last being signed. */
	uint64_t kernel_cpu_ns; /* of the whole tree (with the user clock, its user time) */
	uint64_t sampled_ns;
	/* Not in any sample: threads and processes too short for one. */
	uint64_t thread_only_ns;
	uint64_t lost_ns; /* represented by samples that were taken and dropped */
	uint64_t startup_ns;
	uint64_t exit_ns;
	uint64_t unentered_ns;
	uint64_t kernel_unsampled_ns;
	uint64_t traced_ns; /* under a debugger's ptrace */
	uint64_t paused_ns; /* while the program had paused recording; of a trace, wall time */
	int64_t unexplained_ns;
	bool has_unexplained;

	struct interpreter *interpreters;
	size_t interpreter_count;
	bool is_folded; /* their own frames are left out if there are interpreted ones */

	struct stack_tally *stacks;
	size_t stack_tally_count;
	uint64_t handler_ns;         /* part of that: all handlers; FIGURE_UNKNOWN */
	uint64_t trigger_cost_ns;    /* of one trigger, measured; FIGURE_UNKNOWN */
	uint64_t sampling_cost_ns;   /* handlers and triggers, all threads; FIGURE_UNKNOWN */
	const struct blames *blames; /* blame.h; NULL: not requested */
	const char *const *notes;
	size_t note_count;
	const char *part; /* the only part in the weights: filter_apply(); NULL: everything */
	/* The user's definition of own code: packages.h; NULL: the default rule. */
	const char *own;
	bool has_full_names; /* text exports do not shorten names */
	bool has_no_states;  /* wall-clock exports leave states out of stacks */
	const char *fathom_version;
	const char *host;      /* kernel release and machine, e.g. "Linux 6.1.0 x86_64" */
	const char *directory; /* where the command was started; NULL: unknown */
};
