/*
 * switching - decides whether the perf events on a process make its context switches too
 * expensive: pure computation, no I/O.
 *
 * The cost of a process's switches in a window is compared with its CPU time in that window.  A
 * process that switches because it creates threads and processes keeps its events: these live
 * too briefly for any other trigger.  One that is only preempted keeps them, too; preemptions
 * count where it waits as well, for a server's answer wakes the client, which preempts the
 * server (PREEMPTIONS_OF_WAIT).  On a machine with other load a single window is not reliable,
 * so several in a row have to agree.  A decision is final once the cost of a switch is measured
 * (switching_price()).  Where switches take a tenth of the CPU time or more, as in a busy
 * server, windows are short.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* The shortest window. */
#define SWITCHING_WINDOW_NS 40000000ULL

/* The state of one process; zero-initialized: no reading so far. */
struct switching {
	uint64_t time_ns, cpu_ns, waits, preemptions, births; /* when the window began */
	uint32_t dear_windows;                                /* in a row */
	uint32_t dear_permille;                               /* as in the last reading */
	bool is_noticed; /* switching_begins() was true in this window */
	bool has_gaps;   /* reports of created threads may have been lost in the window */
	bool is_dear;    /* too expensive: final */
	/* Figures of the last whole window. */
	uint64_t per_second; /* switches in a second of CPU time */
	uint32_t permille;   /* permille of its CPU time that events cost at switches */
	uint32_t busy;       /* permille of one processor that it used */
	bool was_active;     /* it had enough switches to be judged */
};

/* One reading. */
struct switching_look {
	uint64_t time_ns;     /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;      /* of the process */
	uint64_t waits;       /* its switches because a thread waited */
	uint64_t preemptions; /* its switches because a thread was preempted */
	uint64_t births;      /* how many threads and processes it created */
	uint64_t cost_ns;     /* how much longer a switch takes with events */
	/*
	 * From this many thousandths of the CPU time switches cost too much; at most 20, which
	 * 0 means, too.
	 */
	uint32_t dear_permille;
};

/* True when a window has ended with this reading: its figures are set. */
bool switching_take(struct switching *switching, const struct switching_look *look);

/*
 * True once, if the last window had few switches and this one has enough to be judged:
 * switching_take() should be called soon.  waits: as in a reading.
 */
bool switching_begins(struct switching *switching, uint64_t waits);

/*
 * Corrects the cost of a switch that was assumed until now; decisions before were provisional,
 * and may be taken back.
 */
void switching_price(struct switching *switching, uint64_t taken_ns, uint64_t cost_ns);

/*
 * Whether so many switches in that CPU time, which cost at most most_ns each, justify measuring
 * their cost for the report alone: the measurement makes some 2,500 switches itself.
 */
bool switching_is_worth_measuring(uint64_t switches, uint64_t cpu_ns, uint64_t most_ns);

/*
 * Whether processes with too expensive switches, which together use so many thousandths of a
 * processor, should get timers: the cost is not noticed in processes that are nearly always
 * idle.
 */
bool switching_is_felt(uint32_t busy_permille);
