/*
 * info - what is true of a recording as a whole: how it was made, the CPU
 * account, what was lost.
 *
 * Plain data for reports and exports.  A figure that is unknown, or not meant
 * for the clock or the mode, has its has_ flag false or is FIGURE_UNKNOWN.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIGURE_UNKNOWN UINT64_MAX

/* Why walks ended: one row of the tally of stacks. */
struct stack_tally {
	const char *reason; /* as WALK_STATUS names it, lower case: "complete", … */
	const char *sentence;
	uint64_t samples;
};

/* An interpreter that processes had mapped. */
struct interpreter {
	const char *language; /* "python", as language_name() has it */
	const char *version;  /* "3.11.2" */
	const char *path;     /* of the file with its loop */
	const char *why_not;  /* why its frames are not in the stacks; NULL: they are */
	size_t process_count;
};

struct profile_info {
	const char *const *command; /* argv */
	size_t command_count;
	const char *pids;  /* "[12,13]": what was attached to; NULL: the command was run */
	const char *mode;  /* "sample", "trace" */
	const char *clock; /* "cpu", "user", "wall" */
	const char *const
		*only; /* patterns of the functions that were to be counted: the rest is not */
	size_t only_count; /* 0: all were */
	bool is_wall;      /* samples of the wall clock: the time is that of threads' lives */
	uint64_t rate_hz;
	const char *overhead; /* "1%": a budget, of samples in place of a rate; NULL: none */
	/* Of a trace with one: for how long calls were left out, of its processes' lives. */
	uint64_t throttled_ns, traced_life_ns;
	uint64_t starts, starts_ns; /* of processes with the agent, and what these took */
	uint64_t period_ns;         /* the first process's */
	const char *trigger;        /* "sigtrap", "timer" */
	const char *trigger_why;    /* a sentence */
	bool is_unfinished;         /* still being written, or its recorder was killed */
	uint64_t start_unix_ns;     /* when it began, since 1970; FIGURE_UNKNOWN */
	uint64_t wall_ns;
	uint64_t machine_ns, machine_idle_ns; /* of all processors meanwhile; FIGURE_UNKNOWN */
	uint64_t samples;
	uint64_t calls; /* that were traced */

	/* What measuring them took. */
	bool is_corrected;       /* it is out of the times */
	uint64_t raw_ns;         /* of the times, with it */
	uint64_t measuring_ns;   /* of that, it */
	uint64_t uncertainty_ns; /* by which measuring_ns may be off, either way */
	uint64_t clipped_ns;     /* more would have been taken out than there was */
	uint64_t left_out_ns;    /* that was in no time from the start: callees named */
	uint64_t unknown_calls;  /* of which it is not known: their times are as measured */
	/*
	 * How many times as long the processor took for the same in the course of the program as when
	 * it was found out what a call costs; 0: not known.
	 */
	double slowdown;

	uint64_t lost; /* samples that were taken and not kept */

	/* The CPU account: kernel_cpu = sampled + thread_only + lost + startup + exit + unentered +
	 * kernel_unsampled + traced + paused + unexplained, the last being signed. */
	uint64_t kernel_cpu_ns; /* of the whole tree (of its user time with the user clock) */
	uint64_t sampled_ns;
	uint64_t thread_only_ns; /* in no sample: of threads and processes too short for one */
	uint64_t lost_ns;        /* what samples stood for that were taken and not kept */
	uint64_t startup_ns;
	uint64_t exit_ns;
	uint64_t unentered_ns;
	uint64_t kernel_unsampled_ns;
	uint64_t traced_ns; /* while a debugger traced it */
	uint64_t paused_ns; /* while the program wanted no samples; of a trace, wall time */
	int64_t unexplained_ns;
	bool has_unexplained;

	struct interpreter *interpreters;
	size_t interpreter_count;
	bool is_folded; /* their own frames are left out where interpreted ones stand */

	struct stack_tally *stacks;
	size_t stack_tally_count;
	uint64_t handler_ns;         /* of that, all handlers; FIGURE_UNKNOWN */
	uint64_t trigger_cost_ns;    /* one trigger's, measured; FIGURE_UNKNOWN */
	uint64_t sampling_cost_ns;   /* handler and trigger, all threads; FIGURE_UNKNOWN */
	const struct blames *blames; /* blame.h; NULL: it was not asked for */
	const char *const *notes;
	size_t note_count;
	const char *part; /* what alone is in the weights: filter_apply(); NULL: everything */
	const char *own;  /* what the user named as one's own: packages.h; NULL: the rule */
	bool has_full_names; /* exports that are text do not shorten names */
	bool has_no_states;  /* exports of the wall clock leave the states out of stacks */
	const char *fathom_version;
	const char *host;      /* kernel release and machine, e.g. "Linux 6.1.0 x86_64" */
	const char *directory; /* where the command was started; NULL: not known */
};
