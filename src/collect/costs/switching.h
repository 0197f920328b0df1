/*
 * switching - whether the events on a process cost too much at its switches: a decision by
 * figures alone.
 *
 * What is compared is the process's CPU time in a window and what its switches in it cost.  One that
 * switches since it creates threads and processes keeps its events: what these burn is too brief for
 * anything else.  One that others preempt keeps them, too, unless it waits as well: a server's
 * answer wakes the client, which runs in its place (PREEMPTIONS_OF_WAIT).  One
 * window says little of a machine that others use as well, so several in a row have to agree; and
 * what was decided once is not taken back.  Where switches take a tenth of the time and more, as a
 * busy server's, windows are short.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* No window is shorter. */
#define SWITCHING_WINDOW_NS 40000000ULL

/* Of one process; zero: not looked at so far. */
struct switching {
	uint64_t time_ns, cpu_ns, waits, preemptions, births; /* when the window began */
	uint32_t dear_windows;                                /* in a row */
	uint32_t dear_permille;                               /* as the last look had it */
	bool is_noticed; /* switching_begins() was true in this window */
	bool has_gaps;   /* reports of births may have been lost in the window */
	bool is_dear;    /* for good */
	/* Of the last whole window. */
	uint64_t per_second; /* switches in a second of CPU time */
	uint32_t permille;   /* of its CPU time went into the events' part of switches */
	uint32_t busy;       /* permille of a processor that it used */
	bool was_active;     /* it had switches enough to be judged */
};

/* What is known at a moment. */
struct switching_look {
	uint64_t time_ns;     /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;      /* of the process */
	uint64_t waits;       /* its switches since a thread waited */
	uint64_t preemptions; /* and those since others ran in its place */
	uint64_t births;      /* threads and processes that it created */
	uint64_t cost_ns;     /* what one switch takes longer by events */
	/* So many thousandths of the CPU time are too much for switches; 0: 20, and never more. */
	uint32_t dear_permille;
};

/* True when a window has ended with this look: its figures are there. */
bool switching_take(struct switching *switching, const struct switching_look *look);

/*
 * True once, where the last window had few switches and this one has enough: it should be looked
 * at soon.  waits: as in a look.
 */
bool switching_begins(struct switching *switching, uint64_t waits);

/*
 * The cost that was taken for a switch until now turned out to be another: what follows from
 * that.  What it decided before is provisional.
 */
void switching_price(struct switching *switching, uint64_t taken_ns, uint64_t cost_ns);

/*
 * Whether so many switches in that CPU time, each of at most most_ns, are worth a measurement for the
 * report alone: it makes some 2,500 switches itself.
 */
bool switching_is_worth_measuring(uint64_t switches, uint64_t cpu_ns, uint64_t most_ns);

/*
 * Whether processes that are dear, and use so many thousandths of a processor together, are to be
 * changed: what rests nearly always feels nothing.
 */
bool switching_is_felt(uint32_t busy_permille);
