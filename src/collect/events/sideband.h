/*
 * sideband - what the kernel reports of the tree while it runs: processes, threads,
 * their names, mappings, exits.
 *
 * One DUMMY event per CPU, opened on the stopped child and inherited by all its
 * descendants, each with its ring.  Records of several CPUs are merged by time; those
 * younger than the moment the rings were looked at are held back for the next time, so that
 * order holds.
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
 * Opens the events on pid.  The sentence says what was refused.  has_switches: each switch of each
 * thread is reported, too, at 0.7 to 0.9 us.
 */
int sideband_open(pid_t pid, bool has_switches, struct sideband **out_sideband,
		  struct error *err);
/*
 * The same of processes that run already, which sideband_follow() adds: rings that nothing is
 * reported into so far.
 */
int sideband_open_empty(bool has_switches, struct sideband **out_sideband, struct error *err);
/*
 * All threads of pid, and those to come; with_children: processes to come, too.  A thread that is
 * born meanwhile may be reported twice.  -errno and a sentence.
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
/* Whether there are any, by what the kernel has written since: two loads for each CPU. */
bool sideband_has_unread(const struct sideband *sideband);
/* How full the fullest ring was when they were drained last, in percent. */
unsigned int sideband_fullest(const struct sideband *sideband);
