/*
 * interruptible - calls that wait, and that a signal would interrupt.
 *
 * A row is one call.  A thread of its own, the caller, computes and calls, over and over;
 * either the call has a time limit, or a partner computes and then ends it.  Each caller counts
 * how often it failed with EINTR, how often it was back too soon, and each other answer that it
 * should not have had.
 */
#pragma once
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct caller;

struct row {
	const char *name;
	int (*prepare)(struct caller *caller); /* 0, or -1; NULL: nothing to prepare */
	void (*call)(struct caller *caller);   /* makes the call once, and judges its answer */
	void (*wake)(struct caller *caller);   /* NULL: the call has a time limit */
	uint64_t turns_per_call;               /* 0: called each turn */
};

struct caller {
	const struct row *row;
	uint64_t turns;
	pthread_t thread, partner;
	sem_t go;          /* the partner may begin to think of ending the call */
	uint64_t begin_ns; /* CLOCK_MONOTONIC just before the call */
	int handles[3];    /* whatever the row needs */
	uint32_t word;     /* the same */
	uint64_t made, interrupted, early, odd;
	int odd_errno;
};

/* Rows with a time limit, and rows that a partner ends; the last has no name. */
extern const struct row timed_rows[];
extern const struct row woken_rows[];

/* Until the partner is asked to, the call is not ended. */
void caller_lets_go(struct caller *caller);
/* Whether the call failed with EINTR, which is counted: it is made again. */
bool caller_is_interrupted(struct caller *caller, long result);
/* The call is over; its errno still stands. */
void caller_judges(struct caller *caller, bool is_right);
/* The same for a call with a time limit: it was to take asked_ns or longer. */
void caller_judges_time(struct caller *caller, bool is_right, uint64_t asked_ns);

uint64_t clock_now_ns(clockid_t clock);
struct timespec timespec_of_ns(uint64_t ns);
