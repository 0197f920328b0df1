/*
 * exit_counters - the CPU time of each thread that descends from a process, reported at its
 * end.
 *
 * One counting task-clock event per CPU is opened on a process and inherited by all that it
 * starts from then on.  With inherit_stat the kernel writes an event's count for a thread when
 * the thread ends (kernel/events/core.c, sync_child_event): one PERF_RECORD_READ per CPU,
 * shortly after the thread's EXIT.  So the CPU time is known even of a process that nothing
 * else of ours has seen.
 *
 * At each switch between threads whose events are clones the kernel exchanges the counts of
 * such events, which costs 0.1 us and more; so these counters are opened on a process of one
 * thread, while its children are brief, and closed when any of them creates a thread
 * (storms.h).  The kernel pairs the events of two contexts by their position in the contexts'
 * lists: two inherited contexts have the same order, and the process itself is no clone of
 * theirs, since its sampling event is not inherited by processes.
 *
 * The records have rings of their own.  A thread writes them into the rings of all CPUs from
 * the CPU that it ran on last.  The parent event's child_mutex serialises these writes with
 * each other, but not with other records of the same ring: written into the sideband's rings,
 * they soon stopped both kinds of records (measured, Linux 6.18).
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct exit_counters;

/*
 * Opens counters on pid, a process of one thread.  NULL: the kernel refuses them, or the
 * machine has too many CPUs.
 */
struct exit_counters *exit_counters_open(pid_t pid);
/*
 * Reads the records up to now and closes the events: nothing inherits them from then on, and
 * threads that had are reported no more.
 */
void exit_counters_stop(struct exit_counters *counters);
bool exit_counters_is_stopped(const struct exit_counters *counters);
/* Frees them, stopped or not; NULL is allowed. */
void exit_counters_close(struct exit_counters *counters);

/* Reads the records up to now. */
void exit_counters_read(struct exit_counters *counters);
/*
 * True if every CPU's record of an ended thread has been read: then its CPU time over its life,
 * in ns, which is forgotten.
 */
bool exit_counters_take(struct exit_counters *counters, pid_t tid, uint64_t *out_ns);
