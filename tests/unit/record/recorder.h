/*
 * recorder - a recorder in a process of its own, for tests that read beside it or kill it.
 *
 * It commits a hundred samples (sample_of() of RECORDER_THREADS and RECORDER_STACKS) at a time
 * and says so after each; behind the last it waits until it is asked to go on.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

#define RECORDER_THREADS 3
#define RECORDER_STACKS  40

struct recorder {
	pid_t pid;
	int committed; /* one byte for each commit */
	int go_on;     /* closed: go on */
};

/* With close_it it ends well after its last commit, else without a word. */
struct recorder start_recorder(const char *path, int commits, bool close_it);
/* Waits for count commits; how many there were before it ended. */
int wait_for_commits(const struct recorder *recorder, int count);
/* Lets it go on and returns its wait status. */
int end_recorder(struct recorder *recorder);
/* Kills it and returns the commits that were reported and not yet counted. */
int kill_recorder(struct recorder *recorder);
/* A recording whose recorder was killed after its last commit. */
void leave_killed(const char *path, int commits);
/* The path of a file beside the recording called name, such as its journal. */
const char *beside(void **state, const char *name, const char *suffix);
