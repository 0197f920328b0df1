/*
 * agent - the shared object inside the target: what its files share.
 *
 * The rules of this place: nothing allocates, locks, prints or exits; a handler makes no system
 * call that it can do without; what floors share hangs on `agent`.  Each folder beside this one has a
 * README.md that says what belongs there; docs/agent.md says when each comes in.
 */
#pragma once
#include <stdbool.h>

#include "abi/ring_terms.h"
#include "abi/types.h"

struct ring_header;

struct agent {
	/* NULL: not sampling.  Mapped once for each process image or forked child. */
	struct ring_header *ring;
	struct ring_terms terms; /* of the ring that is there, or was: written before it */
	u64 late_ns;             /* of CPU time, until it says hello: late_hello.h */
	int pid;
	bool may_call;         /* false: a seccomp filter may forbid system calls */
	bool may_copy;         /* false: process_vm_readv() and the like may be forbidden */
	bool may_read_counter; /* false: no clock can be read, either */
	bool has_timers;
	bool has_had_threads; /* besides the first */
	bool is_trap_ours;    /* the program's SIGTRAP is another signal: signals.h */
	bool is_hello_due;    /* when late_ns are burned */
	/* Before a fork, for the child, which would touch the ring for it. */
	struct agent_fork {
		u64 late_ns; /* environment_late_ns_for_children() */
		bool has_ruby;
	} fork;
	bool may_be_trapped;  /* the recorder may have opened events on this process */
	bool has_asked;       /* for regions or pauses */
	bool has_left;        /* ring is memory of the process's own: its recorder has gone */
	bool leaves_children; /* children of fork are not sampled */
	u32 attaches;   /* how often a recorder came to the process while it ran: attach.c */
	bool is_paused; /* by the program itself: control.h */
};
extern struct agent agent;

/*
 * start.c: whether this is a child of vfork(), or of a raw clone: its memory is, or was, another
 * process's, and so are the events and timers that agent speaks of.  A system call.
 */
bool agent_is_of_another(void);
