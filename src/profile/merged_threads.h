/*
 * merged_threads - merges rows of threads: the idle ones of a process at one place (idle.h),
 * and those of one kind (thread_kinds.h) if there are many.
 */
#pragma once

struct groups;
struct profile;

/*
 * For rows by thread, on the wall clock; group.idle and group.alike count the threads of a row.
 */
void merged_threads_make(struct groups *groups, const struct profile *profile);
