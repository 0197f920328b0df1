/*
 * image - one process image in a session: a process from its start, or its last exec, to its
 * end or its next exec.
 *
 * Holds its threads, mappings, perf events, ring and figures.  Mostly plain data; tree.h finds
 * the image that a pid has at the moment.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/ring.h"
#include "base/table.h"
#include "collect/processes/brief_programs.h"
#include "collect/events/cpu_meter.h"
#include "collect/processes/maps_interval.h"
#include "collect/processes/short_threads.h"
#include "collect/costs/overhead.h"
#include "collect/costs/switching.h"
#include "collect/events/thread_events.h"
#include "collect/processes/title.h"

struct copied_events;
struct followed;
struct known_calls;
struct mappings;
struct recording_thread;
struct recording_writer;

/* The counting events of an image without an agent. */
struct image_counters {
	struct thread_events events;
	uint64_t before_ns; /* CPU time of its process when they were opened */
};

enum image_trigger_state {
	IMAGE_TRIGGER_FIRST,   /* as at the handshake */
	IMAGE_TRIGGER_ASKED,   /* its agent was asked to arm timers */
	IMAGE_TRIGGER_CHANGED, /* timers sample it; its own events are closed */
	IMAGE_TRIGGER_FAILED,  /* its agent could not arm timers */
};

/* Whether events or timers sample an image, and its figures without events. */
struct image_trigger {
	enum image_trigger_state state;
	bool begins_by_timers; /* its parent, or its program before exec, had changed */
	bool passes_timers;    /* its children, and programs it executes, begin by timers */
	struct switching switching;
	uint64_t children;      /* processes that it forked */
	uint64_t priced;        /* its switches that session->cost includes, */
	uint64_t priced_births; /* and of its children */
	uint64_t missed_ns;     /* CPU time that its events missed, up to missed_at switches */
	uint64_t missed_at;
	uint64_t event_samples; /* handlers that ran until its events were closed */
	uint64_t counted_ns;    /* by its events, until they were closed */
	uint64_t clock_from_ns; /* its process's CPU clock at that moment */
	uint64_t paused_ns;     /* its CPU time in pauses until then */
	uint64_t clock_ns;      /* the clock's last reading; 0: none */
	uint64_t tree_ns;       /* the clock when the tree's events were closed; 0: not then */
};

/* A thread's name as a program may set it, with its NUL; the kernel's names are shorter. */
#define IMAGE_THREAD_NAME (RING_THREAD_NAME_MAX + 1)

struct image_thread {
	uint32_t row; /* of the recording */
	int tid;
	char name[IMAGE_THREAD_NAME];
	bool is_named_by_program;  /* the kernel's name is ignored */
	bool has_new_name;         /* its row does not have it yet */
	int creator;               /* the thread that created it; 0: not known */
	uint64_t start_ns, end_ns; /* end: UINT64_MAX while it runs */
	uint64_t covered_ns;       /* CPU time up to its last sample, since sampling began */
	uint64_t left_out_ns; /* CPU time of samples dropped because the disk was too slow */
	bool is_end_booked;   /* its end, and the time after its last sample, are booked */
	bool has_ended_young; /* short_threads has counted its end */
	/* copied_events_turn() of the event that samples it; 0: none yet. */
	uint32_t copied_turn;
};

/* The fields of a ring's header that the recorder writes once and no agent changes. */
struct ring_fixed {
	uint64_t magic, word_count, period_ns, trace_offset, bytes;
	uint32_t version, flags;
};

/* See pause.h.  Zero-initialized: never paused. */
struct pause {
	uint32_t causes; /* enum pause_cause; 0: it is sampled */
	uint32_t reason; /* enum handshake_reason, for PAUSE_ASKED */
	uint64_t asked_ns;
	struct cpu_meter meter;
	uint64_t booked_ns; /* the meter's reading that is booked */
	/* CPU time while paused, by the account's rows. */
	uint64_t traced_ns, unentered_ns, exit_ns;
};

/* See trust.h.  Zero-initialized: trusted. */
struct trust {
	uint32_t processors; /* of the machine; 0: not asked for yet */
	bool is_lost;
	bool is_fresh;      /* burned_ns was read in this round */
	bool is_by_events;  /* burned_ns is by its events */
	uint64_t doubtful;  /* figures that were bounded or left out */
	uint64_t burned_ns; /* CPU time of the process, earlier images included */
	uint64_t asked_ns;
	uint64_t excess_ns; /* CPU time that samples claimed beyond burned_ns */
};

struct interpreter_file;

struct image_interpreter {
	uint32_t row, module; /* of the recording */
	struct interpreter_file *file;
	bool has_layout;
};

/* Most programs have one, a few one of each kind; one that embeds Python may load several. */
#define IMAGE_INTERPRETERS 4

enum image_state {
	IMAGE_STARTING, /* no handshake so far */
	IMAGE_ENTERED,  /* it has an agent */
	IMAGE_LEFT_OUT, /* its agent was asked to leave it unsampled */
};

struct image {
	uint32_t row, parent_row;
	uint32_t serial; /* its number in the session */
	pid_t pid;
	char name[16];
	struct title title;
	char *exe;                    /* NULL: unknown */
	const char *unentered_reason; /* a literal, own_reason or NULL */
	char *own_reason;
	bool has_program;             /* it has called exec since its fork */
	const char *why_out_of_reach; /* a literal by reach_why_not(), or NULL */
	bool is_reach_known;
	bool is_passed_by;     /* the program that started it had no agent */
	char passer[16];       /* that program; the outermost of several */
	bool is_recorded;      /* another recorder's agent is in it; */
	bool next_is_recorded; /* and in the program it is about to execute */
	pid_t parent_pid;

	/* storms.h */
	uint32_t brief_children; /* the last ones, in a row */
	struct brief_programs brief_programs;
	bool is_brief;          /* it ended without a sample, with CPU time below two periods */
	bool has_long_below;    /* a process that it started was not brief */
	bool has_threads_below; /* a process that it started made threads in a storm */
	uint32_t storm;         /* the storm of its children; 0: none */
	bool has_had_storms;
	uint32_t in_storm;     /* the storm whose counters it inherited; 0: none */
	bool delays_handshake; /* its agent delays the handshake */

	enum image_state state;
	bool is_ended;
	bool is_gone;         /* the process has ended, which no event reported */
	bool was_gone_before; /* it had ended when this round began */
	uint64_t start_ns, end_ns;
	uint32_t running_threads;
	uint64_t threads_seen, ends_booked; /* threads that began; ends that are booked */

	struct image_thread *threads;
	size_t thread_count, thread_capacity;
	bool has_new_names;            /* a thread has one */
	size_t ended_threads;          /* those of threads that have ended */
	uint64_t forgotten_covered_ns; /* of threads that were forgotten */
	uint64_t forgotten_left_out_ns;
	struct table thread_index; /* tid to index + 1 */
	struct mappings *mappings;
	bool lacks_sideband; /* no event reports what it maps: its agent does */
	struct maps_interval maps_interval;
	uint32_t unknown_module, jit_module; /* of the recording; 0: none so far */
	uid_t uid;                           /* effective, at the handshake */
	uid_t generating_uid;                /* when it first mapped generated code */

	/*
	 * The interpreters that it has mapped; the first usable one of a language has a layout.
	 */
	struct image_interpreter interpreters[IMAGE_INTERPRETERS];
	size_t interpreter_count;
	uint32_t languages; /* of the layouts that its ring has: 1 << RECORDING_LANGUAGE_… */

	/* The ring, and the recorder's own copies of fields that the target could change. */
	struct ring_header *ring; /* NULL: none; read it through ring_view.h only */
	struct ring_fixed ring_fixed;
	struct trust trust;
	size_t ring_bytes;
	uint64_t ring_words, ring_tail;
	uint64_t ring_free;        /* writers may reuse the ring up to here: ring_memory.h */
	struct known_calls *calls; /* its traced calls; NULL: it is not traced */
	uint64_t ring_mark;        /* its head when this round began */
	/* The head when the record at the tail was found uncommitted; 0: it was committed. */
	uint64_t stall_mark;
	uint64_t stall_seen_ns; /* the round of that finding */
	uint64_t stall_ns;      /* how long others have written after it */
	uint64_t lost_noted;    /* ring->lost_samples that are in the recording */

	/* Events. */
	int pidfd;                   /* -1: none */
	struct thread_events events; /* on its threads at the handshake */
	bool has_sampling_events;    /* they sample it, not timers */
	bool has_kernel_samples;     /* and count system time: samples cover all CPU time */
	struct image_trigger trigger;
	struct pause pause;
	struct short_threads short_threads;
	uint64_t debugger_look_ns;      /* when debugger.c last checked it */
	uint64_t looked_at_ns;          /* and its CPU time then */
	struct image_counters counters; /* of an image without an agent */
	/* For the program it is about to execute, if that will have no agent. */
	struct image_counters next_counters;
	bool is_counter_tried;
	uint64_t seen_ns;      /* its CPU time (user clock: user time) at the last reading */
	bool is_attached;      /* its agent was injected while it ran: session/agent.h */
	bool is_attach_judged; /* whether to inject one has been decided */
	/*
	 * Threads that blocked SIGTRAP at that moment and have no event: number, and the first.
	 */
	unsigned int blocking;
	pid_t first_blocking;
	/* Base of its ring's epochs: an injected agent remembers those of earlier recorders. */
	uint64_t epoch_base;
	bool is_idle; /* it used no CPU time between the last two readings */
	/* When an exec changed its rights, which ended all events on it; 0: never. */
	uint64_t unwatched_since_ns;
	bool is_watched_known;
	uint64_t watched_ns; /* its CPU time at that moment */
	uint64_t period_ns;
	uint64_t switch_cost_ns;         /* cost of a switch that its agent assumes */
	struct overhead_window overhead; /* for choosing its rate */
	uint64_t switches_judged;        /* its switches at the last account_check_switches() */

	/* Where the kernel copies stacks: session/copied.c. */
	struct copied_events *copied;      /* events that sample it; NULL: none */
	struct copied_events *next_copied; /* for the program it is about to execute */
	int is_copied_judged; /* by session_copied_look(): 1; after an exec with new rights 2 */
	struct followed *followed; /* its unwinder, from its first sample on */
	uint64_t copied_from_ns;   /* CPU time of its process when that began */

	/* The account. */
	uint64_t ended_ns;      /* CPU time of its ended threads over their lives */
	bool is_end_unknown;    /* the kernel did not report one of them */
	uint64_t cpu_before_ns; /* CPU time of earlier images, or before the session */
	uint64_t opened_cpu_ns; /* CPU time when its events were opened; 0: unknown */
	uint64_t start_cpu_ns;  /* CPU time when sampling began, by the agent; 0: it did not */
	uint64_t sampled_ns;
	uint64_t off_ns; /* CPU time while its program had switched sampling off */
	uint64_t samples;
	uint64_t left_ns;      /* CPU time in [not sampled] and [lost] rows */
	uint64_t lost_ns;      /* the part of left_ns that lost samples stood for */
	uint64_t lost_rest_ns; /* CPU time of lost samples that no sample followed */
	uint64_t rest_ns;      /* CPU time before its last instruction, in no sample */
	uint64_t unsampled_ns; /* a lower bound of that, from when it ran */
	bool is_rest_long;     /* more than is usual between a last sample and an end */
	uint64_t rusage_ns;    /* CPU time by wait(2); 0: not asked, or not its alone */
	uint64_t cpu_ns;       /* total, at its end; valid if is_accounted */
	bool is_accounted;
	uint64_t booked_ns;    /* at its end: the sum of its samples and figures */
	uint64_t uncounted_ns; /* the part of cpu_ns that the tree's counter missed, too */
};

struct image *image_new(pid_t pid);
/* Closes and unmaps what it holds. */
void image_free(struct image *image);

/* The path of the program that it has executed since its fork, as the kernel mapped it; NULL. */
const char *image_program(const struct image *image);
/* The thread's row as of now, without figures; while it runs its end is the image's. */
struct recording_thread image_thread_row(const struct image *image,
					 const struct image_thread *thread,
					 uint64_t session_start_ns);
/* The thread; if it is new it is added, to the recording as well. */
struct image_thread *image_thread_at(struct image *image, int tid, uint64_t time_ns,
				     struct recording_writer *writer);
/*
 * The same for a tid that the target wrote.  An impossible tid gives the process's first
 * thread, and so does a new one if the image has too many.
 */
struct image_thread *image_thread_claimed(struct image *image, uint32_t tid, uint64_t time_ns,
					  struct recording_writer *writer);
/* The tid will be a new thread's: the one that had it has ended. */
void image_forget_tid(struct image *image, int tid);
struct image_thread *image_find_thread(struct image *image, int tid);
/* Sets the kernel's name for the thread, unless the program has one for it. */
void image_thread_kernel_name(struct image *image, struct image_thread *thread,
			      const char *name);
/* Sets the program's name for the thread, cut at a whole UTF-8 character. */
void image_thread_name(struct image *image, struct image_thread *thread, const char *name,
		       size_t len);
/*
 * All samples before that moment are in the recording.  Once there are enough, threads that
 * ended before it get their final row, and are forgotten, as are mappings.
 */
void image_forget_past(struct image *image, uint64_t before_ns, uint64_t session_start_ns,
		       struct recording_writer *writer);
/* Writes the image's row as it is now. */
void image_write(struct image *image, uint64_t session_start_ns,
		 struct recording_writer *writer);
/*
 * Called before a round reads the sideband: remembers how far the ring is written, and whether
 * the process has ended.
 */
void image_mark(struct image *image, uint64_t ring_mark);
/* CPU time by its events, and by its process's clock once they were closed. */
uint64_t image_counted_ns(const struct image *image);
/* Whether image_counted_ns() is known. */
bool image_is_counted(const struct image *image);
/* Reads the CPU clock of a process that was changed to timers, while it exists. */
void image_read_clock(struct image *image);
/* Whether copied stacks sample it; otherwise its agent does, or nothing. */
bool image_is_copied(const struct image *image);
/* Its CPU time while paused. */
uint64_t image_paused_ns(const struct image *image);
/* Closes its sampling events: no trap comes afterwards. */
void image_stop_sampling(struct image *image);
