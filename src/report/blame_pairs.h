/*
 * blame_pairs - groups what made threads wait into rows: one for each kind of thread that held
 * what another kind waited for, and for what both executed.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/blame.h"

struct filter;
struct packages;
struct thread_kinds;

enum blame_part {
	BLAME_HELD,    /* another thread held it */
	BLAME_ENDS,    /* it was another thread's end */
	BLAME_CPU,     /* a CPU, while others ran */
	BLAME_UNOWNED, /* its owner is unknown */
	BLAME_PART_COUNT,
};

struct blame_pair {
	struct blame heaviest; /* of the blames in the pair */
	uint64_t ns;
	size_t owners, waiters; /* so many threads */
	size_t places; /* put together, of those that each have too little for a row; or 0 */
};

struct blame_list {
	struct blame_pair *rows; /* the longest first */
	size_t count, capacity;
	uint64_t ns; /* of all rows */
};

struct blame_pairs {
	struct blame_list parts[BLAME_PART_COUNT];
	/*
	 * Waits without an owner by threads that did nothing else (idle.h); these have no rows.
	 */
	size_t idle_threads;
	uint64_t idle_ns;
	uint64_t others_ns; /* of waits for a CPU while no thread of the recording ran */
};

struct blame_pairs_terms {
	const struct profile *profile; /* with its blames */
	const struct filter *filter;   /* selects the waiting threads; may be NULL */
	const struct packages *packages;
	const struct thread_kinds *kinds; /* NULL: each thread has rows of its own */
};

/* Release with blame_pairs_done(). */
void blame_pairs_make(const struct blame_pairs_terms *terms, struct blame_pairs *out_pairs);
void blame_pairs_done(struct blame_pairs *pairs);

/*
 * The frame that is most informative about what a thread executes: the innermost of own code,
 * else of Python or Ruby, else of anything but the C library and the kernel.
 */
struct frame_id blame_frame_of(const struct profile *profile, const struct packages *packages,
			       struct stack_id stack);
bool blame_is_c_library(const struct profile *profile, struct frame_id frame);
