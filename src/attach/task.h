/*
 * task - lists the threads of a process, the main thread first.
 */
#pragma once
#include <stddef.h>
#include <sys/types.h>

/* The caller frees *out_tids.  0 or -errno. */
int task_list_all(pid_t pid, pid_t **out_tids, size_t *out_count);
