/*
 * task - the threads of a process, the main thread first.
 */
#pragma once
#include <stddef.h>
#include <sys/types.h>

/* *out_tids is the caller's: free().  -errno. */
int task_list_all(pid_t pid, pid_t **out_tids, size_t *out_count);
