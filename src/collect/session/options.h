/* session_options - the options of a session, and why one did not start. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/only.h"
#include "collect/events/perf_events.h"

struct own_limits;

/* Why nothing was started, by the exit code. */
enum session_failure {
	SESSION_FAILURE_NONE,
	SESSION_FAILURE_OURS,           /* 125 */
	SESSION_FAILURE_NOT_EXECUTABLE, /* 126 */
	SESSION_FAILURE_NOT_FOUND,      /* 127 */
};

struct session_options {
	char *const
		*argv; /* the command, NULL-terminated, as it was given; NULL: there is none */
	const pid_t *pids; /* without a command: processes that run already */
	size_t pid_count;
	bool with_children;   /* with pids: their descendants, too */
	uint64_t duration_ns; /* with pids: since all are sampled; 0: until the last ends */
	enum clock_kind clock;
	/*
	 * Set by session_run() for the wall clock.  clock is CPU then: running threads are
	 * sampled by CPU time, and wall.h accounts for the time when they do not run.
	 */
	bool is_wall;
	uint32_t rate_hz; /* 0: 1,000; with the wall clock 100 */
	/*
	 * Instead of a rate: the share of CPU time that sampling may take, 0.01 is 1 %; 0: a
	 * rate.  For a trace: the share above which it pauses; 0: no limit.
	 */
	double overhead;
	enum trigger_kind trigger;
	bool is_trace;    /* count and time calls in place of sampling */
	bool no_builtins; /* trace: calls of interpreted functions only */
	bool has_blocks;  /* trace: Ruby's blocks are traced like methods */
	bool is_paused;   /* nothing is recorded before the program asks for it */
	/* Trace: patterns of the functions that are counted (abi/only.h); none: all are. */
	char only[ONLY_BYTES];
	uint64_t max_bytes;     /* the recording ends when it is so large; 0: never */
	bool no_children;       /* sample the command's own process only */
	bool wait;              /* follow descendants that outlive the command */
	const char *agent_path; /* the agent for is_trace */
	/*
	 * The limits from before own_limits_raise(), which the command gets; NULL: unchanged.
	 */
	const struct own_limits *allowance;
	/*
	 * Called now and then, once the command has ended, while rows wait for a slow disk; may be
	 * NULL.  done of total bytes are written; at the end, all of them.
	 */
	void (*waits_for_disk)(void *context, size_t done, size_t total);
	/*
	 * Called when a report of the recording so far is asked for (SIGUSR1); may be NULL.  The
	 * loop waits meanwhile: it only starts something.
	 */
	void (*wants_report)(void *context);
	void *context; /* of both */
};
