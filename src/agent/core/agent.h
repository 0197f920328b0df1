/*
 * agent - the shared object inside the target: what its files share.
 *
 * The rules of this place: nothing allocates, locks, prints or exits; a handler makes no system
 * call that it can do without; all state hangs on `agent`.  Each room beside this one has a
 * README.md that says what belongs there; docs/internals.md says how they work together.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

#include "abi/ring.h"
#include "abi/ring_terms.h"
#include "abi/walk_status.h"
#include "agent/sample/budget.h"
#include "agent/core/memory.h"
#include "agent/interpreters/python/python.h"
#include "agent/control/regions.h"
#include "agent/interpreters/ruby/ruby.h"
#include "walk/native.h"

/* A thousand calls of a Python program, with five native frames for each (CPython up to 3.10). */
#define AGENT_MAX_FRAMES 8192
#define AGENT_SCRATCHES  64

/* Room for one walk: too large for the interrupted thread's stack. */
struct scratch {
	struct native_scratch rules;
	u64 frames[AGENT_MAX_FRAMES];
	struct memory_copies copies;
	struct python_room python;
	struct ruby_room ruby;
};

struct agent {
	/* NULL: not sampling.  Mapped once for each process image or forked child. */
	struct ring_header *ring;
	struct ring_terms terms;      /* of the ring that is there, or was: written before it */
	const char *name;             /* what it was started as, for the recorder */
	const char *const *arguments; /* what it was started with */
	u64 main_stack_top;           /* the end of the initial stack */
	u64 main_stack_bytes;         /* how far below it the initial stack may reach */
	u64 late_ns;                  /* of CPU time, until it says hello: late_hello.h */
	u64 main_thread_pointer;      /* arch_thread_pointer() of the thread that has it */
	const void *program_headers;  /* the program's own, as the kernel told */
	u32 program_header_count;
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
	bool is_tracing;      /* it has been, at least: the trace has something to forget */
	bool has_asked;       /* for regions or pauses */
	bool is_paused;       /* by the program itself: control.h */
	u64 scratches_in_use; /* one bit each */
};
extern struct agent agent;

/*
 * start.c: whether this is a child of vfork(), or of a raw clone: its memory is, or was, another
 * process's, and so are the events and timers that agent speaks of.  A system call.
 */
bool agent_is_of_another(void);

/*
 * What a thread remembers between two of its samples.  All zero in a new thread; the
 * agent is preloaded, so this lies in the static TLS block: no allocation on first use.
 */
struct thread_notes {
	int tid; /* 0: no sample yet */
	u32 since_clock_read;
	u64 covered_ns;      /* CPU time since sampling began that samples stand for */
	u64 boundary_ns;     /* of the thread's clock, where the last period ended */
	bool has_phase;      /* it is known where the event's periods end */
	u64 last_time_ns;    /* CLOCK_MONOTONIC at the last sample */
	u64 switches;        /* as the clock was last read */
	u64 waits;           /* of those, that it made itself */
	u64 system_ns;       /* and its system time */
	u64 switch_cost_ns;  /* and what a switch was taken to cost; 0: not read yet */
	u32 pauses;          /* of the ring, when the thread's account was begun */
	u64 own_stack_low;   /* [own_stack_low, top) has been proven readable */
	u64 own_stack_floor; /* below it, nothing is the thread's own stack */
	int timer;           /* the kernel's number: timers.c */
	bool has_timer;
	bool is_by_timers;       /* its samples stand for the time since the last: clock.c */
	struct scratch *scratch; /* that its handler uses now */
	struct budget budget;    /* of its walks */
	u32 early_traps;         /* that made no sample: the next stands for them */
	u64 name_hash;           /* of what the program calls it, as was told; 0: nothing was */
	u64 named_ns;            /* when that was looked at last (CLOCK_MONOTONIC) */
	bool is_timer_slow;      /* sampling is paused */
	bool has_lost;           /* samples, since it last sent one */
	bool is_in_agent;        /* it executes our code, and no handler */
	bool is_ending;          /* its start function has returned: thread_end.c */
	bool is_end_expected;    /* its time is booked then: clock.c counts on it */
	u64 start_function;      /* 0: it began before sampling did, or unseen */
};
extern __thread struct thread_notes thread_notes;

/*
 * handshake.c: says hello on the socket the environment names. Leaves agent.ring set, or
 * not; with a reason (abi/handshake.h), not.
 */
void handshake_run(u32 occasion, u32 reason);
/*
 * Whether the recorder has ended, or cannot be reached from here, as far as this image or one that
 * it was forked from has found out.  It is not asked again.
 */
bool handshake_recorder_is_gone(void);
/*
 * Asks not to be sampled any more, 0.25 s at most.  True: the events are off, and no trap
 * comes to the calling thread after this returns; another thread may still have one when it
 * returns from the system call it is in.  Not for handlers, nor for a vfork child, whose
 * events (it has none) and memory are its parent's: callers look at agent.pid.
 */
bool handshake_stop(u32 reason);
/* The same of a vfork child, of which nothing is to be stopped: it waits for the answer. */
void handshake_tell_exec(u32 reason);
/* What it stopped for is over, or has failed: it may be sampled again. */
void handshake_resume(void);
/* Has the recorder look for interpreters among what was loaded since the start. */
void handshake_tell_loaded(void);
/* Asks that the traps of another process, which the caller is about to trace, go off. */
void handshake_yield_to_tracer(u32 target);
/* Forgets the ring, which is the parent's, in a child of fork. */
void handshake_forget(void);

/* clock.c: the weight of a sample taken now, and the thread's covered CPU time after it. */
struct sample_time {
	u64 time_ns;
	u64 weight_ns;
	u64 covered_ns;
};
struct sample_time clock_weigh(struct ring_header *ring, u32 overruns, u64 pc);
/*
 * What the calling thread, which ends, has burned since its last sample, or in all.  A sample
 * that comes later counts from here.
 */
struct sample_time clock_end_thread(struct ring_header *ring);
/* The calling thread begins, and clock_end_thread() will be called at its end. */
void clock_expect_end(void);
/* What the process burned so far, on the recording's clock. */
u64 clock_process_ns(const struct ring_header *ring);
/* What the calling thread burned so far, as the kernel counts it. */
u64 clock_thread_cpu_ns(void);
/* Begins the calling thread's account: what it burned until now is start-up. */
void clock_begin_thread(void);

/* unwind.c */
struct walk {
	struct ring_header *ring;
	u64 epoch;                    /* of what is sent for this walk */
	struct native_scratch *rules; /* memory to find them in */
	struct memory_copies *copies; /* and for what must be copied to be read */
	struct python_room *python;
	struct ruby_room *ruby;
	struct regions_walk regions;
	u64 *frames; /* callers, innermost first, as struct ring_stack has them */
	u64 leaf;    /* the address being executed */
	u64 sp;      /* and where its stack was */
	u32 count;
	u8 ending;    /* enum walk_status */
	bool is_full; /* there were more callers than there is room for */
	bool is_lost; /* what its frames are could not be sent */
};
void unwind_walk(const ucontext_t *context, struct walk *walk);
/* Stores a frame; false when there is no room. */
bool unwind_push(struct walk *walk, u64 frame);
/* Images may have gone: what was remembered of their addresses is void. */
void unwind_flush(void);

/* Where the dynamic linker put an image; path is its own memory. */
struct image_place {
	u64 start, end;
	u64 load_bias;
	const char *path;
};

/* emit.c */
/* Whether no perf event reports mappings to the recorder, or soon none will. */
bool emit_is_asked_for_images(void);
void emit_sample(struct ring_header *ring, const struct walk *walk,
		 const struct sample_time *time);
/* The time of a sample that is not wanted. */
void emit_paused(struct ring_header *ring, const struct sample_time *time);
/* No place for a sample: its time is lost. */
void emit_lost(struct ring_header *ring, const struct sample_time *time);
/* The time of a thread that ends, on the function it began with. */
void emit_end(struct ring_header *ring, const struct sample_time *time, u64 start_function);
void emit_flush(struct ring_header *ring);
/* Tells the recorder of an image, once: where emit_is_asked_for_images(). */
void emit_image(struct ring_header *ring, const struct image_place *image);

/* masks.c: holds the trap back in the calling thread, or lets it come again. */
void masks_hold_trap(bool is_held);

/* timers.c */
void timers_init(void);
void timers_arm_thread(const struct ring_header *ring);
void timers_disarm_thread(void);
/*
 * In the handler of the timer of that number: false during a pause, when the next trap comes in
 * a second of CPU time.
 */
bool timers_may_sample(const struct ring_header *ring, int timer);
/* In the handler of an event's trap: arms timers in its place, if the recorder asks for it. */
void timers_look(struct ring_header *ring);
void timers_disarm_after_fork(void);
