/*
 * image - one process image in a session: a process from its start, or its last exec,
 * to its end or its next exec.
 *
 * Holds what the recorder has of it: its threads, its mappings, its events and its
 * ring.  Plain data with few rules; tree.h knows which image a pid has at a moment.
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

/* What counts an image that no agent came to. */
struct image_counters {
	struct thread_events events;
	uint64_t before_ns; /* what its process had burned when they were opened */
};

enum image_trigger_state {
	IMAGE_TRIGGER_FIRST,   /* as it was at hello */
	IMAGE_TRIGGER_ASKED,   /* its agent is to arm timers */
	IMAGE_TRIGGER_CHANGED, /* timers trigger, and no event of its own is on it */
	IMAGE_TRIGGER_FAILED,  /* its agent could not */
};

/* Whether events are right for an image, and what is known of it without them. */
struct image_trigger {
	enum image_trigger_state state;
	bool begins_by_timers; /* its parent, or what it was before, had changed */
	bool passes_timers;    /* what it forks or executes begins by timers */
	struct switching switching;
	uint64_t children;      /* that it forked */
	uint64_t priced;        /* of its switches, session->cost has so many, */
	uint64_t priced_births; /* and of its children */
	uint64_t missed_ns;     /* of its time by missed_at switches, what its events missed */
	uint64_t missed_at;
	uint64_t event_samples; /* its handlers, until its events were closed */
	uint64_t counted_ns;    /* by its events, until they were closed */
	uint64_t clock_from_ns; /* its process's clock then */
	uint64_t paused_ns;     /* and what it had burned paused */
	uint64_t clock_ns;      /* as it was read last; 0: it never was */
	uint64_t tree_ns;       /* when the tree's events were closed; 0: it began later */
};

/* What a program may call a thread, with its NUL; the kernel's names are shorter. */
#define IMAGE_THREAD_NAME (RING_THREAD_NAME_MAX + 1)

struct image_thread {
	uint32_t row; /* of the recording */
	int tid;
	char name[IMAGE_THREAD_NAME];
	bool is_named_by_program;  /* the kernel knows it by another name */
	bool has_new_name;         /* which its row does not have yet */
	int creator;               /* the thread that created it; 0: not known */
	uint64_t start_ns, end_ns; /* end: UINT64_MAX while it runs */
	uint64_t covered_ns;       /* CPU time up to its last sample, since sampling began */
	uint64_t left_out_ns; /* of samples that the disk was too slow for, and in no row */
	bool is_end_booked;   /* and so is what it burned behind it */
	bool has_ended_young; /* short_threads has seen it to */
	uint32_t
		copied_turn; /* copied_events_turn() of the event that samples it; 0: none yet */
};

/* What the recorder wrote into a ring's header once, and no agent changes. */
struct ring_fixed {
	uint64_t magic, word_count, period_ns, trace_offset, bytes;
	uint32_t version, flags;
};

/* pause.h.  Zero: it never was. */
struct pause {
	uint32_t causes; /* enum pause_cause; 0: it is sampled */
	uint32_t reason; /* enum handshake_reason, of PAUSE_ASKED */
	uint64_t asked_ns;
	struct cpu_meter meter;
	uint64_t booked_ns; /* of the meter */
	/* What it burned while paused, by what it is called in the account. */
	uint64_t traced_ns, unentered_ns, exit_ns;
};

/* trust.h.  Zero: it is trusted. */
struct trust {
	uint32_t processors; /* of the machine; 0: not asked for yet */
	bool is_lost;
	bool is_fresh;      /* burned_ns was asked for in this round */
	bool is_by_events;  /* it was its events that said */
	uint64_t doubtful;  /* figures that were bounded or left out */
	uint64_t burned_ns; /* by the process, earlier images included, when asked last */
	uint64_t asked_ns;
	uint64_t excess_ns; /* that samples claimed beyond what was burned */
};

struct interpreter_file;

struct image_interpreter {
	uint32_t row, module; /* of the recording */
	struct interpreter_file *file;
	bool has_layout;
};

/* Real programs have one, few one of each kind; one that embeds Python may load several. */
#define IMAGE_INTERPRETERS 4

enum image_state {
	IMAGE_STARTING, /* no hello so far */
	IMAGE_ENTERED,  /* the agent is in it */
	IMAGE_LEFT_OUT, /* it said hello and was asked to run on unsampled */
};

struct image {
	uint32_t row, parent_row;
	uint32_t serial; /* the how many-th of the session */
	pid_t pid;
	char name[16];
	struct title title;
	char *exe;                    /* NULL: unknown */
	const char *unentered_reason; /* a literal, or own_reason; NULL */
	char *own_reason;
	bool has_program;             /* it has executed one since its fork */
	const char *why_out_of_reach; /* a literal, as reach_why_not() has it; NULL */
	bool is_reach_known;
	bool is_passed_by;     /* no agent was in what started it */
	char passer[16];       /* that: the outermost of several */
	bool is_recorded;      /* another recorder's agent is meant to be in it; */
	bool next_is_recorded; /* in the program that it is about to execute */
	pid_t parent_pid;

	/* storms.h */
	uint32_t brief_children; /* that ended, the last of them in a row */
	struct brief_programs brief_programs;
	bool is_brief;          /* it ended before it burned two periods, without a sample */
	bool has_long_below;    /* a process that it started was not brief */
	bool has_threads_below; /* a process that it started has made some in a storm */
	uint32_t storm;         /* of its children; 0: none */
	bool has_had_storms;
	uint32_t in_storm;    /* whose counters it has inherited; 0: none */
	bool says_hello_late; /* it is, or was born, in one */

	enum image_state state;
	bool is_ended;
	bool is_gone;         /* there is no such process any more, without an event */
	bool was_gone_before; /* when this round began: what it did until then is reported by now */
	uint64_t start_ns, end_ns;
	uint32_t running_threads;
	uint64_t threads_seen, ends_booked; /* so many began; so many booked their ends */

	struct image_thread *threads;
	size_t thread_count, thread_capacity;
	bool has_new_names;            /* one of them has */
	size_t ended_threads;          /* of those */
	uint64_t forgotten_covered_ns; /* of threads that are not there any more */
	uint64_t forgotten_left_out_ns;
	struct table thread_index; /* tid to place + 1 */
	struct mappings *mappings;
	struct maps_interval maps_interval;
	uint32_t unknown_module, jit_module; /* of the recording; 0: none so far */
	uid_t uid;                           /* effective, at hello */
	uid_t generating_uid;                /* when it first mapped generated code */

	/* The interpreters that it has mapped; the first that can be walked has a layout. */
	struct image_interpreter interpreters[IMAGE_INTERPRETERS];
	size_t interpreter_count;
	uint32_t languages; /* of the layouts that its ring has: 1 << RECORDING_LANGUAGE_… */

	/* The ring: this side's own copies of what the target could change. */
	struct ring_header *ring; /* NULL: none; ring_view.h follows it, others do not */
	struct ring_fixed ring_fixed;
	struct trust trust;
	size_t ring_bytes;
	uint64_t ring_words, ring_tail;
	uint64_t ring_free;        /* up to there its writers may write again: ring_memory.h */
	struct known_calls *calls; /* where its calls are counted; NULL: they are not */
	uint64_t ring_mark;        /* how far it was written when this round began */
	/* A record at the tail was not committed when head was here; 0: it was. */
	uint64_t stall_mark;
	uint64_t stall_seen_ns; /* the round of that look */
	uint64_t stall_ns;      /* for how long others have written behind it */
	uint64_t lost_noted;    /* of ring->lost_samples, what the recording knows */

	/* Events. */
	int pidfd;                   /* -1: none */
	struct thread_events events; /* on the threads there were at hello */
	bool has_sampling_events;    /* they are what triggers */
	bool has_kernel_samples; /* and they count system time: samples cover all there is */
	struct image_trigger trigger;
	struct pause pause;
	struct short_threads short_threads;
	uint64_t debugger_look_ns;      /* when debugger.c last looked */
	uint64_t looked_at_ns;          /* and its CPU time then */
	struct image_counters counters; /* of an image without an agent */
	/* Of the program that it is about to execute, if no agent will come to that. */
	struct image_counters next_counters;
	bool is_counter_tried;
	uint64_t seen_ns;      /* its CPU time (user clock: user time) when last looked at */
	bool is_attached;      /* its agent came while it ran: session/agent.h */
	bool is_attach_judged; /* whether one is to be brought in */
	/* Of its threads then, those that block SIGTRAP and have no event. */
	unsigned int blocking;
	pid_t first_blocking;
	/* Of its ring's epochs: its agent remembers those of earlier recorders. */
	uint64_t epoch_base;
	bool is_idle; /* it had burned nothing when last looked at */
	/* An exec gave it other rights: no event of before counts it any more.  0: none did. */
	uint64_t unwatched_since_ns;
	bool is_watched_known;
	uint64_t watched_ns; /* what it had burned by then, as far as is known */
	uint64_t period_ns;
	uint64_t switch_cost_ns;         /* as its agent is to take it */
	struct overhead_window overhead; /* when its rate was looked at last */
	uint64_t switches_judged;        /* account_check_switches() has looked at so many */

	/* Where stacks are copied by the kernel: session/copied.h. */
	struct copied_events *copied;      /* what samples it; NULL: nothing of the kind */
	struct copied_events *next_copied; /* and the program that it is about to execute */
	int is_copied_judged;      /* session_copied_look(): 1 + of rights that it got */
	struct followed *followed; /* from its first sample on */
	uint64_t copied_from_ns;   /* what its process had burned when that began */

	/* The account. */
	uint64_t ended_ns;      /* what its threads that ended had burned, from their births */
	bool is_end_unknown;    /* of one of them the kernel has not reported it */
	uint64_t cpu_before_ns; /* what earlier images burned, or it before the session */
	uint64_t opened_cpu_ns; /* when its events were opened; 0: unknown */
	uint64_t start_cpu_ns;  /* when sampling began, as the agent says; 0: it did not */
	uint64_t sampled_ns;
	uint64_t off_ns; /* of what its program did not want to be sampled */
	uint64_t samples;
	uint64_t left_ns;      /* more than its samples may stand for */
	uint64_t lost_ns;      /* of left_ns, what lost samples stood for */
	uint64_t lost_rest_ns; /* and of those behind which no sample came */
	uint64_t rest_ns;      /* burned before its last instruction, and in no sample */
	uint64_t unsampled_ns; /* of that, what is known from when it ran; at least */
	bool is_rest_long;     /* more than is usual between a last sample and an end */
	uint64_t rusage_ns;    /* what wait(2) said it burned; 0: not asked, or not its alone */
	uint64_t cpu_ns;       /* at its end, in all: valid when is_accounted */
	bool is_accounted;
	uint64_t booked_ns;    /* at its end: all of its samples and figures */
	uint64_t uncounted_ns; /* of cpu_ns, what the tree's counter did not see either */
};

struct image *image_new(pid_t pid);
/* Closes and unmaps what it holds. */
void image_free(struct image *image);

/* The path of the program that it has executed since its fork, as the kernel mapped it; NULL. */
const char *image_program(const struct image *image);
/* As it is now, without figures; what is not over has the image's end. */
struct recording_thread image_thread_row(const struct image *image,
					 const struct image_thread *thread,
					 uint64_t session_start_ns);
/* The thread, made (and written to the recording) if it is not known. */
struct image_thread *image_thread_at(struct image *image, int tid, uint64_t time_ns,
				     struct recording_writer *writer);
/*
 * The same for a tid that the target wrote: a thread of another tid, where it cannot be one, or
 * where the image has more than a process may have.
 */
struct image_thread *image_thread_claimed(struct image *image, uint32_t tid, uint64_t time_ns,
					  struct recording_writer *writer);
/* The tid is a new thread's from now on: the one that had it has ended. */
void image_forget_tid(struct image *image, int tid);
struct image_thread *image_find_thread(struct image *image, int tid);
/* What the program calls it: as much of the UTF-8 as there is room for. */
void image_thread_name(struct image *image, struct image_thread *thread, const char *name,
		       size_t len);
/*
 * Everything before that moment is in the recording: what ended by then is written for the
 * last time and forgotten, once it is worth while.
 */
void image_forget_past(struct image *image, uint64_t before_ns, uint64_t session_start_ns,
		       struct recording_writer *writer);
/* Writes the image's row as it is now. */
void image_write(struct image *image, uint64_t session_start_ns,
		 struct recording_writer *writer);
/* Before the events of a round are taken in: its ring is written to ring_mark. */
void image_mark(struct image *image, uint64_t ring_mark);
/* What its events counted, and its clock showed once they were closed. */
uint64_t image_counted_ns(const struct image *image);
/* Whether that is known. */
bool image_is_counted(const struct image *image);
/* Reads the clock of a process that is sampled without events, while there is one. */
void image_read_clock(struct image *image);
/* Whether copied stacks are what samples it: else nothing does, or its agent. */
bool image_is_copied(const struct image *image);
/* What it burned while it was paused. */
uint64_t image_paused_ns(const struct image *image);
/* Closes what samples it: no trap comes after. */
void image_stop_sampling(struct image *image);
