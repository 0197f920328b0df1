/*
 * sideband - reads what the kernel reports about the process tree while it runs: processes,
 * threads, their names, executable mappings, exits, and context switches if asked for.
 *
 * One DUMMY event per CPU, each with its ring, is opened on the stopped child and inherited by
 * all its descendants.  Records of several CPUs are merged by time; those newer than the moment
 * when reading began are held back until the next read, so that the order holds.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct sideband;
struct sideband_event;

/*
 * Opens the events on pid.  has_switches: each context switch of each thread is reported, too,
 * which costs 0.7 to 0.9 us.
 */
int sideband_open(pid_t pid, bool has_switches, struct sideband **out_sideband,
		  struct error *err);
/*
 * For processes that run already: opens the rings alone; sideband_follow() adds the events that
 * write into them.
 */
int sideband_open_empty(bool has_switches, struct sideband **out_sideband, struct error *err);
/*
 * Follows all threads of pid, and those that it creates later; with_children: later child
 * processes, too.  Events of a thread that is created meanwhile may be reported twice.  -errno
 * and a sentence.
 */
int sideband_follow(struct sideband *sideband, pid_t pid, bool with_children,
		    struct error *err);
void sideband_close(struct sideband *sideband);
/* One CPU's event without its ring, to measure what it costs: descriptor or -errno. */
int sideband_open_unread(pid_t pid, int cpu);

/*
 * Visits, in order, the events up to the moment of the call.  Returns how many records
 * the kernel had to drop since the last call.
 */
uint64_t sideband_drain(struct sideband *sideband,
			void (*visit)(void *context, const struct sideband_event *event),
			void *context);
/* Whether the kernel has written any records since: two loads for each CPU. */
bool sideband_has_unread(const struct sideband *sideband);
/* How full the fullest ring was when they were drained last, in percent. */
unsigned int sideband_fullest(const struct sideband *sideband);
