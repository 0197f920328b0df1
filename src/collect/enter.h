/*
 * enter - what the recorder does for an agent that says hello: a ring, and the
 * sampling events on its threads.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/pause.h"
#include "collect/reach.h"
#include "collect/session_options.h"

struct handshake_hello;
struct image;
struct interpreters;

struct enter_terms {
	enum clock_kind clock;
	uint32_t rate_hz;
	uint32_t processors;   /* that may run the program at a time */
	bool has_sigtrap;      /* else timers */
	bool has_counters;     /* perf events that only count can be opened */
	bool has_sideband;     /* which reports mappings */
	bool counts_unentered; /* processes that no agent is in get counters */
	bool is_user_mode_only;
	bool has_kernel_ticks; /* timers sample what such events do not count */
	bool is_trace;         /* calls are counted, and nothing is sampled */
	bool no_builtins;
	bool has_blocks;
	bool is_paused;
	const char *only; /* patterns (abi/only.h) of what is counted; NULL or none: all */
	bool no_children;
	pid_t command_pid;
	struct reach_paths paths;
	uint64_t switch_cost_ns; /* switch_cost.h */
	/* When the session began, on both clocks: how many ticks a period has. */
	uint64_t start_ns, start_ticks;
	/* Of a trace by threads' CPU clocks: how many ticks a nanosecond has, by 2^32; or 0. */
	uint64_t ticks_per_ns;
	struct interpreters *interpreters;
};

/*
 * Answers the hello of the image's agent; takes the connection.  On success the image has its
 * ring and events; otherwise it is left out, with a reason.
 */
void enter_image(struct image *image, const struct handshake_hello *hello, int connection,
		 const struct enter_terms *terms);

/* How a process is paused, by the same terms. */
struct pause_terms enter_pause_terms(const struct enter_terms *terms);

/* An agent is to leave its process alone; takes the connection. */
void enter_refuse(int connection);

/* What was asked for is done; takes the connection. */
void enter_answer_done(int connection);

/*
 * Does what a STOP or RESUME asks, and answers; takes the connection.  image may be NULL: the
 * process is none of ours.
 */
void enter_change(struct image *image, const struct handshake_hello *hello, int connection,
		  const struct enter_terms *terms);
