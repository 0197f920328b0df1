/*
 * session_state - struct session, and what the files of session/ share (README.md lists them).
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
#include "collect/wall/ticks.h"
#include "remote/stack.h"
#include "remote/unwind_files.h"

struct handshake_server;
struct image;
struct module_place;
struct error;
struct sideband;
struct sideband_event;
struct storms;

#define NS_PER_MS    1000000ULL
#define ROUND_MIN_MS 2
#define ROUND_MAX_MS 100
/* How many processes that are missing from a trace are named. */
#define MAX_UNTRACED_NOTES 3
/* How many processes that wrote nonsense are named. */
#define MAX_NONSENSE_NOTES 3

/* How many programs that were changed to timers are named. */
#define SWITCHES_GROUPS 8

struct switches_group {
	char name[16];
	pid_t pid;               /* the first one's */
	uint32_t others;         /* more of that name */
	uint64_t time_ns;        /* when it was changed */
	struct switching before; /* as it was then */
};

/* Events that cost too much at context switches: switches.c. */
struct session_switches {
	bool is_measuring, is_measured;
	struct switch_costs_measuring measuring;
	struct switch_costs costs;
	bool is_tree_dear;    /* a process was changed: the tree's events must go, too */
	bool is_tree_closed;  /* the whole tree's counter and sideband are closed */
	uint64_t closed_ns;   /* when they were closed */
	uint64_t counted_ns;  /* CPU time by the tree's counter until then */
	uint64_t overhead_ns; /* cost of switches until then, charged but not counted */
	uint64_t clocks_ns;   /* CPU time from then on of images that ended since */
	struct switches_group groups[SWITCHES_GROUPS];
	uint32_t group_count, others, failed;
	uint64_t events_dropped; /* by the sideband, at the last look at switches */
};

/* Sampling by copied stacks: copied.c. */
struct session_copied {
	bool is_open;
	struct copied_terms terms;
	struct copied_rings rings;
	struct unwind_files files;
	struct remote_stack stack; /* of the current sample */
	struct kernel_frames kernel;
	struct copied_events *command; /* of the command, until there is an image of it */
	uint64_t command_ns;           /* CPU time of its process before the exec */
	uint64_t lost;                 /* samples for which a ring had no room */
	uint64_t images;               /* images with such samples */
	unsigned int fullest;          /* ring, at the last reading, in percent */
	uint64_t deeper_ns;            /* when a stack last was deeper than its copy */
};

/* The wall clock: wall.c. */
struct session_wall {
	bool is_on;
	bool is_coarse;       /* no switches are reported */
	bool has_gone_coarse; /* but they were */
	int timer_fd;
	uint64_t tick_ns; /* between two ticks, on average */
	struct wall_ticks ticks;
	struct wall threads;
	struct wall_reader reader;
	struct wall_owners owners;
	/* Rows of threads: that are to be read, that were switched, that have ended. */
	uint32_t *listed, *touched, *ended;
	size_t listed_count, listed_capacity, touched_count, touched_capacity;
	size_t ended_count, ended_capacity;
	uint32_t cursor; /* the last row that had its turn in this pass; 0: it begins */
	uint64_t pass_ns, gap_ns; /* when the pass began, and how long after the last */
	uint64_t reads_until_ns;  /* coarse: when reads of this tick must end */
	/* When it went coarse, and how often all threads were looked at since. */
	uint64_t coarse_ns, looks;
	uint64_t scanned_ns, booked_ns;
	size_t sched_open;
	/* Too many switches to report each (is_dear): windows in a row with too many. */
	uint64_t window_ns, window_switches, dear_windows;
	bool is_dear;
	uint64_t switches, reads, torn, thread_count;
};

enum { OVERHEAD_CHANGES = 6 };

/* With a budget of overhead (overhead.c): a change of one process's rate. */
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
	uint32_t least_hz, most_hz; /* rates that processes had */
	uint32_t above;             /* windows above the budget at the lowest rate */
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
	struct handshake_server *server;
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
	uint64_t next_report_ns; /* no report so far is started before */
	int tree_counter_fd;     /* CPU time of the whole tree; -1: none */
	struct storms *storms;
	bool has_read_storms;             /* since the sideband was last read */
	struct sideband_event *held_ends; /* of threads whose CPU time is still to come */
	size_t held_end_count, held_end_capacity;
	int round_ms;
	bool is_reaped, is_broken;
	bool copies_tree; /* the command's tree is sampled by copied stacks */
	bool is_full; /* the recording is as large as it may be: the program runs on without it */
	uint64_t start_ns, start_ticks, reaped_ns, over_ns;
	uint64_t all_sampled_ns;  /* since when all running processes are sampled */
	struct machine_load load; /* at the start */
	struct sampling_cost cost;
	struct session_overhead overhead;
	uint64_t events_dropped;
	uint64_t uncounted_ns;     /* CPU time that none of our counters covers */
	uint64_t booked_ns;        /* CPU time in samples and figures of ended images */
	uint64_t births;           /* starts of processes that have figures */
	uint64_t attached_ns;      /* CPU time of images since the session attached to them */
	uint64_t waited_ns;        /* by wait(2): the command and children it waited for */
	uint64_t off_ns;           /* time in which programs had switched recording off */
	uint64_t calls_read_at_ns; /* when calls were read last */
	uint64_t limits_looked_at_ns;
	/*
	 * Of all traced processes: total lifetime, and the part in which tracing was throttled.
	 */
	uint64_t traced_life_ns, throttled_ns;
	uint64_t calls;       /* calls that images had counted when they ended */
	uint64_t untraced;    /* images that executed a program, and no agent came */
	uint64_t nonsensical; /* images that wrote impossible figures into shared memory */
};

/* Starts the command with its events open (start.c).  -errno and a sentence. */
int session_start(struct session *session, struct error *err);
/* The same for processes that run already. */
int session_start_attached(struct session *session, struct error *err);
/* At the end, once all samples are written (notes.c). */
void session_note_end(struct session *session);

/* Takes what the kernel has reported up to now. */
void session_take_events(struct session *session);
/*
 * Takes what the kernel has reported, and closes the sideband: /proc and handshakes replace it.
 */
void session_close_events(struct session *session);
/* Moves records and calls into the recording, and sets how long to wait for the next round. */
void session_round(struct session *session);
/*
 * Between two rounds, while the tree runs: looks at processes that were created since and have
 * no agent (raw clones), which may end before the next round.  Milliseconds until the round is
 * due because of them, at most wait_ms.
 */
int session_look_at_new(struct session *session, int wait_ms);
/* Called before the first event (storms.h). */
void session_begin_storms(struct session *session);
void session_close_storms(struct session *session);
/* Ends the storm of this id, if it goes on (storms.h). */
void session_end_storm(struct session *session, uint32_t id);
/* Answers the agents whose requests have come. */
void session_take_requests(struct session *session);
/* Refuses agents, when nothing is recorded any more. */
void session_refuse_requests(struct session *session);

/* Between rounds: true if the next is due now, since a process has begun to switch often. */
bool session_glance_at_switches(struct session *session);
/*
 * Checks each process's switches, and changes processes to timers whose switches cost too much.
 */
void session_look_at_switches(struct session *session);
/* Milliseconds until session_look_at_switches() is due, at most wait_ms. */
int session_switches_wait_ms(const struct session *session, int wait_ms);
/* An image has ended: adds its switches, and reads its clock for the last time. */
void session_switches_end(struct session *session, struct image *image);
/* The events that a switch of the image stops and starts. */
enum switch_events session_switch_events(const struct session *session,
					 const struct image *image);
/* For a running process of several threads: reads what its events miss. */
void session_look_at_missed(struct image *image);
/* Adds its switches since the last call, all with the events that it has now. */
void session_price_switches(struct session *session, struct image *image);
/* How many of an image's handlers timers triggered, at its end. */
uint64_t session_switches_timer_samples(const struct image *image,
					const struct ring_costs *costs);
void session_switches_account(struct session *session, const struct image *image);
/* CPU time charged to the tree, if its counter was closed before the end. */
uint64_t session_switches_charged_ns(const struct session *session);
/* What a switch of the image takes longer by its events; 0: it was not measured. */
uint64_t session_switches_cost_of(const struct session *session, const struct image *image);
/* The same; before it is measured, an upper bound. */
uint64_t session_switches_most_cost_of(const struct session *session,
				       const struct image *image);
/* Begins to measure what switches cost, in a process of its own. */
void session_switches_measure(struct session *session);
/*
 * Takes the measured costs, if they are there (must_wait: waits for them).  Windows that were
 * too expensive by the upper bound are judged again by these.
 */
void session_switches_take_costs(struct session *session, bool must_wait);
/*
 * The costs of switches, measured now if they may be a hundredth of cpu_ns; NULL: they are
 * less.
 */
const struct switch_costs *session_switches_costs(struct session *session, uint64_t cpu_ns);
void session_switches_note(struct session *session);

/* Opens the rings, once; -errno and a sentence. */
int session_copied_open(struct session *session, struct error *err);
void session_copied_close(struct session *session);
/* A descriptor to poll, or -1. */
int session_copied_fd(const struct session *session);
/* Milliseconds until samples must be taken, at most wait_ms. */
int session_copied_wait_ms(const struct session *session, int wait_ms);
/* Takes the samples from before until_ns (CLOCK_MONOTONIC). */
void session_copied_take(struct session *session, uint64_t until_ns);

/*
 * Samples the command's whole tree by copied stacks, from its exec on, before which pid waits.
 * On failure nothing has changed, and a sentence says why.
 */
int session_copied_prepare(struct session *session, pid_t pid, struct error *err);
/* Gives the command's events to its image, once there is one. */
void session_copied_give_command(struct session *session);
/*
 * Samples all threads of the image by copied stacks from now on; -errno as
 * copied_events_open().
 */
int session_copied_begin(struct session *session, struct image *image, bool with_children);
/* Samples the program it is about to exec from its first instruction. */
void session_copied_expect(struct session *session, struct image *image);
/* Closes the image's copied events: an agent has come after all. */
void session_copied_leave(struct image *image);
/* Samples an image without an agent by copied stacks, if none will come. */
void session_copied_look(struct session *session, struct image *image);
/* The image has mapped place, which unwinding needs. */
void session_copied_map(struct image *image, const struct module_place *place);
/* After the last samples: notes how many were lost. */
void session_copied_note(struct session *session);

/* Callbacks of the tree and the pump; context is the session. */
void session_image_ended(void *context, struct image *image);
void session_maps_changed(void *context, struct image *image, uint64_t time_ns);
void session_mapped(void *context, struct image *image, const struct module_place *place);

/* Measures the cost of a trap.  Returns the highest rate that a process's events have. */
uint32_t session_overhead_begin(struct session_overhead *overhead, double share);
/* In each round: adapts the rates of processes to the budget. */
void session_look_at_overhead(struct session *session);
/* At a process's end: learns the cost of its handlers. */
void session_overhead_end(struct session *session, struct image *image);
/* Notes the rates over time, for the report. */
void session_overhead_note(struct session *session);
