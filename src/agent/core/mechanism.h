/*
 * mechanism - what each mechanism does at the steps of a process's life.
 *
 * The files here know when a step comes (a start, a fork, a thread, an image that goes) and not
 * what there is to do: that is a row of each mechanism, in its own folder.  The rows are listed in
 * agent/mechanisms.c; a step calls them in that order.  A row leaves out what it has no use for.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct code;
struct region;
struct region_asking;
struct ring_header;

struct mechanism {
	/* In the constructor, before the hello. */
	void (*start)(void);
	/* The hello is said, in the constructor or in a child of fork; there may be no ring. */
	void (*settle)(void);
	/* The hello will be said later, maybe in a handler. */
	void (*wait_for_hello)(void);
	/* There is a ring.  is_first: neither the process nor its parent had one. */
	void (*begin)(struct ring_header *ring, bool is_first);
	/* The recorder was asked to send no traps; it may send them again. */
	void (*stop)(void);
	void (*resume)(struct ring_header *ring);

	void (*before_fork)(void);
	void (*after_fork_in_parent)(void);
	/* In the child: before its hello, while the parent's ring is mapped; behind it. */
	void (*forget)(void);
	void (*after_fork)(void);
	/* In a child of _Fork() or clone(2), which says no hello. */
	void (*abandon)(void);

	/* A thread is about to be created; caller: of pthread_create(), else NULL. */
	void (*before_thread)(const void *caller);
	/* Whether a thread is to begin in a function of ours; it is there, and runs this next. */
	bool (*wants_thread)(void);
	void (*begin_thread)(u64 start_function);
	/* The process ends here, or executes another program; that failed. */
	void (*end_process)(void);
	void (*take_back_end)(void);

	/* Images may go, and may have gone since; what before_unload() said, or 0. */
	u64 (*before_unload)(void);
	void (*unloaded)(u64 mark);
	/* The texts of a code object are there, and about to be sent. */
	void (*name_code)(const struct code *code);

	/* A filter of the program's forbids the calls that a new thread's memory takes. */
	void (*forbid_threads)(void);
	/* The program is about to forbid that the machine's counter be read; it may be again. */
	void (*forbid_counter)(void);
	void (*allow_counter)(void);

	/* The program asks for it (control/control.h). */
	void (*pause)(bool is_paused);
	void (*begin_region)(const struct region *region, const struct region_asking *asking);
	void (*end_region)(u64 serial);
};

/* NULL behind the last. */
extern const struct mechanism *const mechanisms[];

/* MECHANISMS_DO(begin, (ring, true)): the step of each that has it. */
#define MECHANISMS_DO(step, arguments)                                               \
	do {                                                                         \
		for (const struct mechanism *const *row = mechanisms; *row; row++) { \
			if ((*row)->step != NULL)                                    \
				(*row)->step arguments;                              \
		}                                                                    \
	} while (0)
