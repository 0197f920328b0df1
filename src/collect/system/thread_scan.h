/*
 * thread_scan - all threads of a process, while it makes new ones.
 *
 * One look at /proc misses what is born meanwhile, so it is looked again until nothing is new.
 */
#pragma once
#include <sys/types.h>

/*
 * Visits each thread once.  visit() gives 0; -ESRCH, that it has ended, is passed over; any other
 * negative number ends the scan and is the result.  -ESRCH: there was no thread.
 */
int thread_scan(pid_t pid, int (*visit)(void *context, pid_t tid), void *context);
