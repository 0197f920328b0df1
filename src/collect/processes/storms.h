/*
 * storms - processes whose children are too brief to be sampled.
 *
 * When STORM_CHILDREN of a process have ended in a row before they had burned two sampling
 * periods, a storm begins: its ring says so (ring_view_set_late_hellos()), and those to come
 * say hello only when they have burned a period (docs/decisions/0036).  What each of them burned
 * the kernel reports at its end (exit_counters.h).
 *
 * Where the children are mixed, programs that are brief each time (brief_programs.h) are a storm
 * of their own: those to come of these say hello late, the others at once, and the storm goes on
 * whatever these do, until any of them makes a thread.  None such begins in that process again.
 *
 * A storm of all ends when a late hello comes (one comes before a thread is made), when a process
 * without an agent makes a thread in it, and with its process's image.  None begins in a process
 * of several threads, nor where the kernel's reports are refused: there all children say hello
 * at once.
 *
 * Of the children that were born in it the ends are still to be read then, or still to come: the
 * kernel's reports go on for a moment, unless threads may be made.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct image;
struct storms;

#define STORM_CHILDREN 8
/* At a time: of more, all children say hello at once. */
#define STORMS_MAX 3

/* is_possible: else none ever begins. */
struct storms *storms_new(bool is_possible);
void storms_free(struct storms *storms);
/* None begins from now on: nothing reports what is forked. */
void storms_stop(struct storms *storms);
/* A child of parent's has ended (is_brief, has_long_below): a storm may begin, or end. */
void storms_take_child(struct storms *storms, struct image *parent, const struct image *child);
/* Whether it is one of brief programs among other children. */
bool storms_is_of_programs(const struct storms *storms, uint32_t id);
/* A child executes the program at that path: it is to say hello late if that is listed. */
void storms_see_program(struct image *child, const struct image *parent, const char *path);
/* A child of fork is in its parent's storm, or in the one that its parent is in. */
void storms_take_fork(const struct storms *storms, struct image *child,
		      const struct image *parent, uint64_t time_ns);
/* The storm of that id ends; parent is its process's image, or NULL. */
void storms_end(struct storms *storms, uint32_t id, struct image *parent);
/* Threads may be made in it: nor does the kernel report any more.  What it has is kept. */
void storms_stop_counting(struct storms *storms, uint32_t id);
/* Forgets those that have ended a while ago. */
void storms_forget(struct storms *storms);
/* The process whose children are in the storm of that id; 0: it is forgotten. */
pid_t storms_pid(const struct storms *storms, uint32_t id);
/* Whether the ends of its threads are reported. */
bool storms_count(const struct storms *storms, const struct image *image);
/* Takes in what the kernel has reported up to now. */
void storms_read(struct storms *storms);
/* What a thread of the image that has ended had burned; false: that is not known (yet). */
bool storms_take_end(struct storms *storms, const struct image *image, pid_t tid,
		     uint64_t *out_ns);
