/*
 * exit_counters - what each descendant of a process had burned when it ended.
 *
 * One counting task-clock event per CPU, opened on a process and inherited by all that it
 * starts from then on.  With inherit_stat the kernel writes what an event has counted of a
 * thread when that ends (kernel/events/core.c, sync_child_event): one PERF_RECORD_READ per
 * CPU, shortly after the thread's EXIT.  So a process that nothing else of ours has seen has
 * its figure all the same.
 *
 * At each switch between threads whose events are clones the kernel exchanges the counts of
 * such events, which costs 0.1 us and more; so they are opened on a process of one thread,
 * while its children are brief, and closed when any of them makes a thread (storms.h).  It
 * exchanges them in pairs by their place in two contexts' lists: where both were inherited these
 * have one order, and the process itself is no clone of theirs, since its sampling event is
 * not inherited by processes.
 *
 * The records have rings of their own.  A thread writes them into the rings of all CPUs on its
 * last, which the parent event's child_mutex serialises, but not with other records of the same
 * ring: in the sideband's rings they soon stopped both (measured, Linux 6.18).
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct exit_counters;

/* On pid, a process of one thread.  NULL: refused, or rings would take too much memory. */
struct exit_counters *exit_counters_open(pid_t pid);
/*
 * Takes in the records up to now.  From then on nothing inherits the events, and no end is
 * reported of those that had.
 */
void exit_counters_stop(struct exit_counters *counters);
bool exit_counters_is_stopped(const struct exit_counters *counters);
/* Frees them, stopped or not; NULL is none. */
void exit_counters_close(struct exit_counters *counters);

/* Takes in the records up to now. */
void exit_counters_read(struct exit_counters *counters);
/*
 * Whether the record of every CPU is there of a thread that has ended: if so, what it had
 * burned since its birth, in ns.  Both are forgotten.
 */
bool exit_counters_take(struct exit_counters *counters, pid_t tid, uint64_t *out_ns);
