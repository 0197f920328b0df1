/*
 * thread_spread - by how much the variance of a row's time exceeds that of independent samples,
 * judged by how its threads differ.
 *
 * Several threads in phases as long as the recording look steady in sum, although each gives
 * one observation only. If the row's share changes now and then (change_points.h), and its
 * threads differ in it, they are a few draws from one distribution, and the variance of their
 * sum is that between them, with Student's t for their number. If nothing changes, threads may
 * differ because their work differs, or because each is in its first phase: how the row would
 * come again is unknown. Only threads of one group are compared, as a main thread is not one of
 * its workers.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct row_series;

struct thread_spread_terms {
	struct row_series *series; /* in slots of time */
	const float *part_of_thread, *whole_of_thread;
	const uint32_t *group_of_thread;
	size_t threads;
};

/* 0 without two threads of a group, or without changes. */
double thread_spread_inflation(const struct thread_spread_terms *terms);
/*
 * Whether every thread with others in its group is in the row either all the time or never, and
 * some group has both: then each has the row in one stretch.
 */
bool thread_spread_is_once(const struct thread_spread_terms *terms);
