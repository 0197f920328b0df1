/*
 * perf_events - the perf events the recorder opens from outside.
 *
 * Three kinds, all of the software event "task clock": one inherited *counting* event that
 * says what CPU time the tree burns; a counting event for each process that was not
 * entered; and the *sampling* events, one for each thread there is when the agent says
 * hello, inherited by the threads to come, which send SIGTRAP to the thread itself
 * (Linux >= 5.18: before that a blocked SIGTRAP killed the process).
 *
 * All descriptors are close-on-exec and the recorder's: when it dies, sampling ends.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

enum clock_kind { CLOCK_KIND_CPU, CLOCK_KIND_USER, CLOCK_KIND_WALL };
enum trigger_kind { TRIGGER_AUTO, TRIGGER_SIGTRAP, TRIGGER_TIMER, TRIGGER_COPIED };

/* What this machine lets this user do. */
struct perf_ability {
	bool can_count;        /* the counting events and the sideband */
	bool can_sigtrap;      /* the sampling events */
	bool can_see_kernel;   /* sampling events may count system time */
	bool has_kernel_ticks; /* they may not, and timers are to sample that */
	bool is_copied;        /* the stacks of all processes are copied (copied_events.h) */
	char why[512];         /* a sentence for the report: which trigger and why */
};

/*
 * Tries on pid, a stopped child of ours, what can be opened.  A forced trigger that is refused
 * is an error: -EPERM and a sentence that says how to get it.
 */
int perf_ability_find(pid_t pid, enum trigger_kind trigger, enum clock_kind clock,
		      struct perf_ability *out_ability, struct error *err);

/* Why perf events are refused: the sentence for what the kernel said. */
void perf_ability_explain(struct perf_ability *ability, int rc);

/* A counter of CPU nanoseconds for pid: with all descendants, or with its threads only. */
int perf_open_counter(pid_t pid, bool with_descendants);
/* The same for one thread and its later threads, until it calls exec (Linux >= 5.13). */
int perf_open_image_counter(pid_t tid);
struct perf_sampler {
	uint64_t period_ns;
	bool is_user_mode_only;
	bool is_off; /* until it is switched on */
	/*
	 * What its traps are recognised by; 0: they are no agent's.  A recorder that traps itself may
	 * be another recorder's program.
	 */
	uint64_t mark;
};
/* A sampling event on one thread, for its later threads too; descriptor or -errno. */
int perf_open_sampler(pid_t tid, const struct perf_sampler *sampler);
/*
 * An event on one thread that counts nothing and is not inherited: the perf contexts of the
 * threads it creates from then on are no clones of its own (short_threads.h).
 */
int perf_open_unshared(pid_t tid);
/* The count so far in ns, of ended inheritors too; 0 if it cannot be read. */
uint64_t perf_read_counter(int fd);

/*
 * A prime number of nanoseconds, at random 1 to 5 % more or less than the period of rate_hz:
 * the same each time for a serial number, and others when a recorder is run again.  A program
 * whose turns last as long as a fixed period, or a part of it, would be seen in some of its
 * phases only, and in each recording (docs/decisions/0031).
 */
uint64_t perf_choose_period(uint32_t rate_hz, uint32_t serial);
