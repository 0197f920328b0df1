/*
 * merged_threads - rows of threads that are shown as one: the idle ones of a process at one place
 * (idle.h), and those of one kind (thread_kinds.h) where there are many.
 */
#pragma once

struct groups;
struct profile;

/* Of rows by thread, of the wall clock: group.idle and group.alike say of how many a row is. */
void merged_threads_make(struct groups *groups, const struct profile *profile);
