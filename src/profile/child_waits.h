/*
 * child_waits - finds, on the wall clock, waits of processes for their own child processes that
 * are in the profile as well: where that time goes is what the children do.
 *
 * A process with child processes waits for them in the state `wait` (wait4, vfork, a signal; not
 * a thread's end), and in reads and polls of nothing but pipes and processes: make's job server,
 * the output of a command, the results of a pool.  Which process is at the other end of a pipe
 * is not known.
 */
#pragma once
#include <stdbool.h>

struct profile;

/* By the weight's number; NULL: there are none. The caller frees it. */
bool *child_waits_find(const struct profile *profile);
