/*
 * mechanism - what each mechanism does at the steps of a process's life.
 *
 * core/ decides when a step comes (a start, a fork, a thread, an unloaded image); what is done then
 * is in each mechanism's row, in its own folder.  agent/mechanisms_record.c and mechanisms_trace.c
 * list the rows; a step calls them in that order.  Rows leave out what they do not need.
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

/* What show_signals() changed in the kernel for the next image, to be undone if exec fails. */
struct signals_shown {
	bool has_mask;
	bool has_trap_action;
	bool has_substitute_action;
	u64 mask;
};

struct mechanism {
	/* The functions that its layer interposes. */
	const struct hooks *hooks;

	/* In the constructor, before the handshake. */
	void (*start)(void);
	/* After the handshake, or its delay, in any new process; there may be no ring. */
	void (*settle)(void);
	/* Delays the handshake by cpu_ns of CPU time; false: no mechanism does that. */
	bool (*delay_handshake)(u32 occasion, u64 cpu_ns);
	/* A delayed handshake is about to be set up; it may run in a handler. */
	void (*wait_for_handshake)(void);
	/* Makes a delayed handshake now: the recorder must know of what is about to happen. */
	void (*make_handshake)(void);
	/* Stops the timer of a delayed handshake, so that no trap of it comes; starts it again. */
	void (*hold_handshake)(void);
	void (*release_handshake)(void);
	/* A ring was mapped.  is_first: neither the process nor its parent had one. */
	void (*begin)(struct ring_header *ring, bool is_first);
	/* The recorder has stopped sending traps; it may send them again. */
	void (*stop)(void);
	void (*resume)(struct ring_header *ring);

	void (*before_fork)(void);
	void (*after_fork_in_parent)(void);
	/* In the child: before its handshake, while the parent's ring is mapped; after it. */
	void (*forget)(void);
	void (*after_fork)(void);
	/* In a child of _Fork() or clone(2), which makes no handshake. */
	void (*abandon)(void);

	/* A thread is about to be created; caller: pthread_create()'s return address, else NULL. */
	void (*before_thread)(const void *caller);
	/* Whether threads are to begin in our function; one has, before start_function. */
	bool (*wants_thread)(void);
	void (*begin_thread)(u64 start_function);
	/*
	 * Before exec or posix_spawn(): gives the kernel the mask and actions that the next
	 * image is to inherit.  must_ignore_trap: a trap of ours may still come in that image.
	 * hide_signals(): exec failed, or the child is made.
	 */
	void (*show_signals)(bool must_ignore_trap, struct signals_shown *out_shown);
	void (*hide_signals)(const struct signals_shown *shown);
	/* The process ends here, or executes another program; the exec failed. */
	void (*end_process)(void);
	void (*take_back_end)(void);

	/* In a handler whose stack pointer is `here`: whether its loads may fault (memory.h). */
	bool (*may_load)(const struct mem *mem, u64 here);
	/* Before images may be unloaded, and after; mark: before_unload()'s result, or 0. */
	u64 (*before_unload)(void);
	void (*unloaded)(u64 mark);
	/* A code object's names have been read, and are about to be sent. */
	void (*name_code)(const struct code *code);

	/* syscall(): makes the call itself if it handles that one; *out_rc: the kernel's result. */
	bool (*answer_call)(long number, const long arguments[6], long *out_rc);
	/* The program is about to forbid system calls: handlers may make none from then on. */
	void (*forbid_calls)(void);
	/* The program is about to forbid rt_sigreturn, so that no handler can return. */
	void (*forbid_handlers)(void);
	/* A filter of the program's forbids the calls by which a new thread gets memory of ours. */
	void (*forbid_threads)(void);
	/* The program is about to forbid reading the counter (rdtsc); it allows it again. */
	void (*forbid_counter)(void);
	void (*allow_counter)(void);

	/* Requests of the program (control/control.h). */
	void (*pause)(bool is_paused);
	void (*begin_region)(const struct region *region, const struct region_asking *asking);
	void (*end_region)(u64 serial);
};

/* NULL behind the last. */
extern const struct mechanism *const mechanisms[];

/* Calls the step of one row after another until one returns true; false: none did. */
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

/* MECHANISMS_DO(begin, (ring, true)): calls the step of each row that has it. */
#define MECHANISMS_DO(step, arguments)                                               \
	do {                                                                         \
		for (const struct mechanism *const *row = mechanisms; *row; row++) { \
			if ((*row)->step != NULL)                                    \
				(*row)->step arguments;                              \
		}                                                                    \
	} while (0)
