/*
 * storms - detects processes that start many children too brief to be sampled, and has these
 * delay their handshakes.
 *
 * When STORM_CHILDREN children of a process in a row have ended with less than two sampling
 * periods of CPU time, a storm begins: the process's ring says so
 * (ring_view_set_delayed_handshakes()), and agents of later children do their handshake only after a
 * period of CPU time (docs/decisions/0036).  The kernel reports the CPU time of each child at
 * its end (exit_counters.h).
 *
 * Where children are mixed, programs that are brief each time (brief_programs.h) form a storm
 * of their own: children that execute these delay their handshakes, others do not.  The others
 * do not end such a storm, unless one of them creates a thread; then no such storm begins in
 * that process again.
 *
 * A storm of all children ends at the first delayed handshake (one is done before a thread is
 * created), when a process without an agent creates a thread in it, and with its process's
 * image.  None begins in a process of several threads, nor where the kernel's reports are
 * refused: there all children do their handshake at once.
 *
 * Children of an ended storm may not have ended, or their ends may not have been read: the
 * kernel's reports go on for a moment, unless threads may be created.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct image;
struct storms;

#define STORM_CHILDREN 8
/* Storms at a time; children of more processes do their handshake at once. */
#define STORMS_MAX 3

/* is_possible: else none ever begins. */
struct storms *storms_new(bool is_possible);
void storms_free(struct storms *storms);
/* No storm begins from now on, since nothing reports forks any more. */
void storms_stop(struct storms *storms);
/* A child of parent has ended (is_brief, has_long_below): a storm may begin or end. */
void storms_take_child(struct storms *storms, struct image *parent, const struct image *child);
/* Whether it is a storm of listed programs among other children. */
bool storms_is_of_programs(const struct storms *storms, uint32_t id);
/* A child executes the program at that path: if it is listed, its handshake is delayed. */
void storms_see_program(struct image *child, const struct image *parent, const char *path);
/* A forked child belongs to its parent's storm, or to the one that its parent belongs to. */
void storms_take_fork(const struct storms *storms, struct image *child,
		      const struct image *parent, uint64_t time_ns);
/* The storm of that id ends; parent is its process's image, or NULL. */
void storms_end(struct storms *storms, uint32_t id, struct image *parent);
/*
 * Threads may be created in it: closes its exit counters.  Ends that they have reported are
 * kept.
 */
void storms_stop_counting(struct storms *storms, uint32_t id);
/* Forgets storms that ended a while ago. */
void storms_forget(struct storms *storms);
/* The process whose children are in the storm of that id; 0: it is forgotten. */
pid_t storms_pid(const struct storms *storms, uint32_t id);
/* Whether the ends of the image's threads are reported by exit counters. */
bool storms_count(const struct storms *storms, const struct image *image);
/* Reads what the exit counters have reported up to now. */
void storms_read(struct storms *storms);
/* CPU time of an ended thread of the image; false: not known (yet). */
bool storms_take_end(struct storms *storms, const struct image *image, pid_t tid,
		     uint64_t *out_ns);
