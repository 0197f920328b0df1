/*
 * perf_events - the perf events that the recorder opens on recorded processes, and whether it
 * may.
 *
 * Three kinds, all of the software event "task clock": one inherited *counting* event that
 * measures the CPU time of the process tree; a counting event for each process without an
 * agent; and the *sampling* events, one for each thread that exists at the agent's handshake,
 * inherited by later threads, which send SIGTRAP to the thread itself (Linux >= 5.18: before
 * that a blocked SIGTRAP killed the process).
 *
 * All descriptors are close-on-exec and belong to the recorder: when it dies, sampling ends.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

enum clock_kind { CLOCK_KIND_CPU, CLOCK_KIND_USER, CLOCK_KIND_WALL };
enum trigger_kind { TRIGGER_AUTO, TRIGGER_SIGTRAP, TRIGGER_TIMER, TRIGGER_COPIED };

/* Which perf events this user may open on this machine. */
struct perf_ability {
	bool can_count;        /* the counting events and the sideband */
	bool can_sigtrap;      /* the sampling events */
	bool can_see_kernel;   /* sampling events may count system time */
	bool has_kernel_ticks; /* they may not, and timers sample system time */
	bool is_copied;        /* the stacks of all processes are copied (copied_events.h) */
	char why[512];         /* for the report: which trigger is used and why */
};

/*
 * Tries which events can be opened on pid, a stopped child of the recorder.  If --trigger asks
 * for one that is refused, it is an error: -EPERM, and a sentence that says how to allow it.
 */
int perf_ability_find(pid_t pid, enum trigger_kind trigger, enum clock_kind clock,
		      struct perf_ability *out_ability, struct error *err);

/* Writes the sentence why perf events are refused, for the kernel's error rc. */
void perf_ability_explain(struct perf_ability *ability, int rc);

/* A counter of CPU nanoseconds for pid: with all descendants, or with its threads only. */
int perf_open_counter(pid_t pid, bool with_descendants);
/* The same for one thread and its later threads, until it calls exec (Linux >= 5.13). */
int perf_open_image_counter(pid_t tid);
struct perf_sampler {
	uint64_t period_ns;
	bool is_user_mode_only;
	bool is_off; /* opened disabled */
	/*
	 * sig_data, by which an agent recognises its own traps; 0: these traps are for no
	 * agent.  A recorder that traps itself to measure may itself be recorded by another
	 * recorder.
	 */
	uint64_t mark;
};
/* A sampling event on one thread, inherited by the threads it creates; descriptor or -errno. */
int perf_open_sampler(pid_t tid, const struct perf_sampler *sampler);
/*
 * An event on one thread that counts nothing and is not inherited: the perf contexts of the
 * threads it creates from then on are no clones of its own (short_threads.h).
 */
int perf_open_unshared(pid_t tid);
/*
 * The count so far in ns, including that of inheritors, ended ones too; 0 if it cannot be read.
 */
uint64_t perf_read_counter(int fd);

/*
 * A prime number of nanoseconds, at random 1 to 5 % more or less than the period of rate_hz:
 * always the same for one serial number within a recorder's run, another in the next run.  With
 * a fixed period, a program whose loop takes as long as the period, or a fraction of it, would
 * be sampled in some of its phases only, and in the same ones in each recording
 * (docs/decisions/0031).
 */
uint64_t perf_choose_period(uint32_t rate_hz, uint32_t serial);
