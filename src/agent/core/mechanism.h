/*
 * mechanism - what each mechanism does at the steps of a process's life.
 *
 * The files here know when a step comes (a start, a fork, a thread, an image that goes) and not
 * what there is to do: that is a row of each mechanism, in its own folder.  The rows are listed in
 * agent/mechanisms_record.c and mechanisms_trace.c; a step calls them in that order.  A row leaves
 * out what it has no use for.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct code;
struct hooks;
struct mem;
struct region;
struct region_asking;
struct ring_header;

/* What exec changed of the kernel's for the next image: undone if it fails (signals/actions.c). */
struct signals_shown {
	bool has_mask;
	bool has_trap_action;
	bool has_substitute_action;
	u64 mask;
};

struct mechanism {
	/* What its floor interposes. */
	const struct hooks *hooks;

	/* In the constructor, before the hello. */
	void (*start)(void);
	/* The hello is said, in the constructor or in a child of fork; there may be no ring. */
	void (*settle)(void);
	/* Says the hello once the process has burned so much more; false: nothing will. */
	bool (*delay_hello)(u32 occasion, u64 cpu_ns);
	/* Such a hello will be said later, maybe in a handler. */
	void (*wait_for_hello)(void);
	/* The recorder has to know of what is about to happen: a hello that is due is said now. */
	void (*say_hello)(void);
	/* No trap of a delayed hello may come; it may again. */
	void (*hold_hello)(void);
	void (*release_hello)(void);
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
	/*
	 * Before exec or posix_spawn(): the kernel gets what the next image is to inherit of signals.
	 * must_ignore_trap: one of ours may come as late as in that.  Exec failed, or the child is made.
	 */
	void (*show_signals)(bool must_ignore_trap, struct signals_shown *out_shown);
	void (*hide_signals)(const struct signals_shown *shown);
	/* The process ends here, or executes another program; that failed. */
	void (*end_process)(void);
	void (*take_back_end)(void);

	/* In a handler that stands at `here` on its stack: whether its loads may fault (core/memory.h). */
	bool (*may_load)(const struct mem *mem, u64 here);
	/* Images may go, and may have gone since; what before_unload() said, or 0. */
	u64 (*before_unload)(void);
	void (*unloaded)(u64 mark);
	/* The texts of a code object are there, and about to be sent. */
	void (*name_code)(const struct code *code);

	/* syscall(): makes the call in its own way if it has one; *out_rc: what the kernel said. */
	bool (*answer_call)(long number, const long arguments[6], long *out_rc);
	/* The program is about to forbid system calls: handlers may make none from then on. */
	void (*forbid_calls)(void);
	/* Or that a handler returns. */
	void (*forbid_handlers)(void);
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

/* Whether one of them has the step, and says true; the others behind it are not asked. */
#define MECHANISMS_ASK(step, arguments)                                                 \
	(__extension__({                                                                \
		bool is_done = false;                                                   \
		for (const struct mechanism *const *row = mechanisms; *row && !is_done; \
		     row++) {                                                           \
			if ((*row)->step != NULL)                                       \
				is_done = (*row)->step arguments;                       \
		}                                                                       \
		is_done;                                                                \
	}))

/* MECHANISMS_DO(begin, (ring, true)): the step of each that has it. */
#define MECHANISMS_DO(step, arguments)                                               \
	do {                                                                         \
		for (const struct mechanism *const *row = mechanisms; *row; row++) { \
			if ((*row)->step != NULL)                                    \
				(*row)->step arguments;                              \
		}                                                                    \
	} while (0)
