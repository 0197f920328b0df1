/*
 * session_state - what a session has while it runs, for the files that it is written in:
 *
 *   session.c         begins it, goes round in its loop, and ends it
 *   events.c  what the kernel reports of processes and threads
 *   round.c   what a round of its clock takes in, and what is noted when an image ends
 *   hellos.c  answers agents
 *   copied.c  samples what no agent is in
 *   wall.c    accounts for what its threads do while they do not run
 *   switches.c  what switches cost, and processes that are changed to timers for it
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "collect/processes/account.h"
#include "collect/session/command.h"
#include "collect/events/copied_events.h"
#include "collect/agents/enter.h"
#include "collect/system/signal_forwarding.h"
#include "collect/processes/generated_code.h"
#include "collect/processes/interpreters.h"
#include "collect/samples/kernel_frames.h"
#include "collect/system/machine_load.h"
#include "collect/costs/overhead.h"
#include "collect/events/perf_events.h"
#include "collect/samples/pump.h"
#include "collect/session/sampling_cost.h"
#include "collect/costs/switch_cost.h"
#include "collect/costs/switching.h"
#include "collect/processes/debugger.h"
#include "collect/processes/tree.h"
#include "collect/wall/wall.h"
#include "collect/wall/owners.h"
#include "collect/wall/reader.h"
#include "remote/stack.h"
#include "remote/unwind_files.h"

struct hello_server;
struct image;
struct module_place;
struct error;
struct sideband;
struct sideband_event;
struct storms;

#define NS_PER_MS    1000000ULL
#define ROUND_MIN_MS 2
#define ROUND_MAX_MS 100
/* So many processes that a trace has nothing of are named. */
#define MAX_UNTRACED_NOTES 3
/* And of those that wrote nonsense. */
#define MAX_NONSENSE_NOTES 3

/* Programs that were changed to timers are named: so many. */
#define SWITCHES_GROUPS 8

struct switches_group {
	char name[16];
	pid_t pid;               /* the first one's */
	uint32_t others;         /* more of that name */
	uint64_t time_ns;        /* when it was changed */
	struct switching before; /* as it was then */
};

/* Where events cost too much at switches: switches.c. */
struct session_switches {
	bool is_measuring, is_measured;
	struct switch_costs_measuring measuring;
	struct switch_costs costs;
	bool is_tree_dear;   /* a process was changed: it must not pay for the tree's, either */
	bool is_tree_closed; /* the counter and the sideband of the whole tree */
	uint64_t closed_ns;  /* when */
	uint64_t counted_ns; /* by the tree's counter until then */
	uint64_t overhead_ns; /* charged to programs for switches until then, and not counted */
	uint64_t clocks_ns;   /* what images that ended since had burned from then on */
	struct switches_group groups[SWITCHES_GROUPS];
	uint32_t group_count, others, failed;
	uint64_t events_dropped; /* by the sideband, when switches were looked at last */
};

/* What samples by copied stacks: copied.c. */
struct session_copied {
	bool is_open;
	struct copied_terms terms;
	struct copied_rings rings;
	struct unwind_files files;
	struct remote_stack stack; /* of the sample at hand */
	struct kernel_frames kernel;
	struct copied_events *command; /* of the command, until there is an image of it */
	uint64_t command_ns;           /* what its process had burned before its exec */
	uint64_t lost;                 /* samples for which a ring had no room */
	uint64_t images;               /* that had any */
	unsigned int fullest;          /* ring, when samples were taken in last, in percent */
	uint64_t deeper_ns;            /* when a stack last was deeper than its copy */
};

/* The wall clock: wall.c. */
struct session_wall {
	bool is_on;
	bool is_coarse;       /* no switches are reported */
	bool has_gone_coarse; /* but they were */
	int timer_fd;
	uint64_t tick_ns;
	struct wall threads;
	struct wall_reader reader;
	struct wall_owners owners;
	/* Rows of threads: that are to be read, that were switched, that have ended. */
	uint32_t *listed, *touched, *ended;
	size_t listed_count, listed_capacity, touched_count, touched_capacity;
	size_t ended_count, ended_capacity;
	uint32_t cursor; /* the row that had its turn last in this pass; 0: it begins */
	uint64_t pass_ns, gap_ns; /* when it began, and how long after the one before */
	uint64_t reads_until_ns;  /* coarse: of this tick */
	uint64_t scanned_ns, booked_ns;
	size_t sched_open;
	/* Whether switches are too many to be reported: in how many windows in a row. */
	uint64_t window_ns, window_switches, dear_windows;
	bool is_dear;
	uint64_t ticks, switches, reads, torn, thread_count;
};

enum { OVERHEAD_CHANGES = 6 };

/* A budget in place of a rate (overhead.c): one process's rate from a moment on. */
struct overhead_change {
	char name[32];
	int pid;
	uint64_t time_ns;
	uint32_t from_hz, to_hz;
};

struct session_overhead {
	struct overhead_terms terms; /* share 0: there is no budget */
	uint64_t samples, handler_ns;
	struct overhead_change changes[OVERHEAD_CHANGES]; /* the first */
	uint32_t change_count, others;
	uint32_t least_hz, most_hz; /* that processes began with or changed to */
	uint32_t above; /* windows in which it took more at the lowest rate there is */
};

struct session {
	const struct session_options *options;
	struct recording_writer *writer;
	struct notes *notes;
	struct session_result *result;
	struct perf_ability ability;
	struct enter_terms enter_terms;
	struct account_terms account_terms;
	struct signal_forwarding forward;
	struct hello_server *server;
	struct command command;
	struct sideband *sideband; /* NULL: perf events are refused */
	struct tree tree;
	struct pump pump;
	struct interpreters interpreters;
	struct debugger_watch debugger;
	struct generated_code generated;
	struct session_switches switches;
	struct session_copied copied;
	struct session_wall wall;
	uint64_t next_report_ns; /* before it no report so far is started */
	int tree_counter_fd;     /* CPU time of the whole tree; -1: none */
	struct storms *storms;
	bool has_read_storms;             /* since the sideband was looked at */
	struct sideband_event *late_ends; /* of threads whose figures are still to come */
	size_t late_end_count, late_end_capacity;
	int round_ms;
	bool is_reaped, is_broken;
	bool copies_tree; /* the command, and all that descends from it, is to have no agent */
	bool is_full; /* the recording is as large as it may be: the program runs on without it */
	uint64_t start_ns, start_ticks, reaped_ns, over_ns;
	uint64_t all_sampled_ns;  /* the moment since which all of the running processes are */
	struct machine_load load; /* at the start */
	struct sampling_cost cost;
	struct session_overhead overhead;
	uint64_t events_dropped;
	uint64_t uncounted_ns; /* burned out of our counters' sight */
	uint64_t booked_ns;    /* in samples and figures of images that ended */
	uint64_t births;       /* of processes of which there are figures */
	uint64_t attached_ns;  /* burned by images since the session attached to them */
	uint64_t waited_ns;    /* what wait(2) reported of the command and what it waited for */
	uint64_t off_ns;       /* that programs did not want to be recorded */
	uint64_t calls_read_at_ns; /* when calls were read last */
	uint64_t limits_looked_at_ns;
	/* Of all processes that were traced: their lives, and what they were not traced of these. */
	uint64_t traced_life_ns, throttled_ns;
	uint64_t calls;       /* that images had counted when they ended */
	uint64_t untraced;    /* images that executed a program, and no agent came */
	uint64_t nonsensical; /* images that wrote what cannot be into shared memory */
};

/* Starts the command with its events open (start.c).  -errno and a sentence. */
int session_start(struct session *session, struct error *err);
/* The same for processes that run already. */
int session_start_attached(struct session *session, struct error *err);
/* At the end, once all samples are written (notes.c). */
void session_note_end(struct session *session);

/* Takes what the kernel has reported up to now. */
void session_take_events(struct session *session);
/* Takes what it has reported, and closes the sideband: from then on /proc and hellos serve. */
void session_close_events(struct session *session);
/* Moves what rings and tables have, and sets how long to wait for the next round. */
void session_round(struct session *session);
/*
 * Between two rounds, while the tree runs: looks at processes that were created since and have no
 * agent (raw clones), which may end before the next round.  Milliseconds until that round is due
 * because of them, or the given.
 */
int session_look_at_new(struct session *session, int wait_ms);
/* Before the first event (storms.h). */
void session_begin_storms(struct session *session);
void session_close_storms(struct session *session);
/* That of this id, if it has not ended (storms.h). */
void session_end_storm(struct session *session, uint32_t id);
/* Answers the agents that have said hello. */
void session_take_hellos(struct session *session);
/* Has them leave their processes alone: nothing is recorded any more. */
void session_refuse_hellos(struct session *session);

/* Between rounds: true if the next is due now, since a process has begun to switch often. */
bool session_glance_at_switches(struct session *session);
/* Looks at each process's switches, and changes what they make dear to timers. */
void session_look_at_switches(struct session *session);
/* Milliseconds until that has to be done again, or the given, if that is sooner. */
int session_switches_wait_ms(const struct session *session, int wait_ms);
/* An image has ended: its switches, and then its part in the session's figures. */
void session_switches_end(struct session *session, struct image *image);
/* The events that a switch of it stops and starts. */
enum switch_events session_switch_events(const struct session *session,
					 const struct image *image);
/* Of a process of several threads that lives: what its events miss. */
void session_look_at_missed(struct image *image);
/* Its switches so far were with the events that it has now. */
void session_price_switches(struct session *session, struct image *image);
/* Of an image's handlers, at its end, those that timers triggered. */
uint64_t session_switches_timer_samples(const struct image *image,
					const struct ring_costs *costs);
void session_switches_account(struct session *session, const struct image *image);
/* What the tree was charged, when its own counter was closed on the way. */
uint64_t session_switches_charged_ns(const struct session *session);
/* What a switch of the image takes longer by its events; 0: it was not measured. */
uint64_t session_switches_cost_of(const struct session *session, const struct image *image);
/* The same, and before it is measured the most that it may cost. */
uint64_t session_switches_most_cost_of(const struct session *session,
				       const struct image *image);
/* Begins to measure what switches cost, in a process of its own. */
void session_switches_measure(struct session *session);
/*
 * Takes what was measured, if it is (must_wait: it is waited for).  Where windows were dear by the
 * most that switches may cost, the measured cost decides.
 */
void session_switches_take_costs(struct session *session, bool must_wait);
/* Measured now, if switches can have cost a hundredth of that CPU time; NULL: they cannot. */
const struct switch_costs *session_switches_costs(struct session *session, uint64_t cpu_ns);
void session_switches_note(struct session *session);

/* Opens the rings; a sentence if that fails.  Again does nothing. */
int session_copied_open(struct session *session, struct error *err);
void session_copied_close(struct session *session);
/* A descriptor to poll, or -1. */
int session_copied_fd(const struct session *session);
/* wait_ms, or less: in so long samples are to be taken in. */
int session_copied_wait_ms(const struct session *session, int wait_ms);
/* Takes in the samples that were taken before that moment (CLOCK_MONOTONIC). */
void session_copied_take(struct session *session, uint64_t until_ns);

/*
 * All of the command's tree is sampled so, from its exec on: pid waits for it.  On failure the session
 * is as before, and a sentence says why.
 */
int session_copied_prepare(struct session *session, pid_t pid, struct error *err);
/* There is an image of the command. */
void session_copied_give_command(struct session *session);
/* From now on the image is sampled so, on all of its threads; -errno as copied_events_open(). */
int session_copied_begin(struct session *session, struct image *image, bool with_children);
/* What it is about to execute is, from its first instruction. */
void session_copied_expect(struct session *session, struct image *image);
/* An agent has come to the image after all. */
void session_copied_leave(struct image *image);
/* An image that no agent has come to so far: it is sampled so if none will. */
void session_copied_look(struct session *session, struct image *image);
/* The image has mapped that. */
void session_copied_map(struct image *image, const struct module_place *place);
/* Behind the last of them: what was lost. */
void session_copied_note(struct session *session);

/* For the tree and the pump, whose context the session is. */
void session_image_ended(void *context, struct image *image);
void session_maps_changed(void *context, struct image *image, uint64_t time_ns);
void session_mapped(void *context, struct image *image, const struct module_place *place);

/* Measures what a trap costs here.  The rate that the events of a process have at the most. */
uint32_t session_overhead_begin(struct session_overhead *overhead, double share);
/* In each round: what costs more than the budget is sampled less often from here on. */
void session_look_at_overhead(struct session *session);
/* At a process's end. */
void session_overhead_end(struct session *session, struct image *image);
/* What rate it was over time, for the report. */
void session_overhead_note(struct session *session);
