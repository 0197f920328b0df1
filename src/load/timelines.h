/*
 * timelines - what each thread of a recording did, in order of time, and what it waited for.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "profile/profile.h"

struct blame_terms;
struct error;
struct recording_reader;

/* What a thread did for ns, until end_ns. */
struct slice {
	int64_t end_ns, ns;
	struct stack_id stack;
	uint32_t state; /* enum thread_state */
	bool is_own;    /* a row of fathom's own: waits that were too short to be read */
};

/*
 * From time_ns on the thread waited for what the thread with this id in the recording held; 0:
 * it is not known which, or, without a stack, the wait is over.
 */
struct owner_mark {
	int64_t time_ns;
	uint32_t owner;
	struct stack_id stack; /* in which it waited; none in recordings up to version 7 */
	struct stack_id owner_stack; /* in which the owner waited; none: it ran */
};

struct timeline {
	struct thread_id thread;
	struct slice *slices; /* by end */
	size_t count, capacity;
	struct owner_mark *marks; /* by time */
	size_t mark_count, mark_capacity;
};

/* Time that some thread ran. */
struct running {
	int64_t end_ns, ns;
	struct thread_id thread;
	struct stack_id stack;
};

struct timelines {
	struct timeline *rows;
	size_t count, capacity;
	struct table by_thread;  /* the recording's id to the number of its row + 1 */
	struct running *running; /* of all threads, by end */
	size_t running_count, running_capacity;
	int64_t longest_running_ns;
	size_t slices; /* of all */
	bool is_cut;   /* there were too many */
};

int timelines_read(struct recording_reader *reader, const struct blame_terms *terms,
		   struct timelines *out, struct error *err);
void timelines_done(struct timelines *timelines);
/* NULL: the thread has none. */
const struct timeline *timelines_find(const struct timelines *timelines, uint32_t thread);
/* The first running row that ends after the time; running_count: there is none. */
size_t timelines_find_running(const struct timelines *timelines, int64_t time_ns);
/* The first of a timeline that ends at the time or later; count: there is none. */
size_t timeline_find(const struct timeline *timeline, int64_t time_ns);
