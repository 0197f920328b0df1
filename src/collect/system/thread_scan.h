/*
 * thread_scan - visits all threads of a process while it creates new ones.
 *
 * One pass over /proc/<pid>/task misses threads that are created meanwhile, so it is read until
 * a pass finds no new one.
 */
#pragma once
#include <sys/types.h>

/*
 * Visits each thread once.  visit() returns 0, or -ESRCH if the thread has ended, which is not
 * an error; any other negative number ends the scan and is the result.  -ESRCH: there was no
 * thread.
 */
int thread_scan(pid_t pid, int (*visit)(void *context, pid_t tid), void *context);
