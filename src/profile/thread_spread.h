/*
 * thread_spread - by how much the variance of a row's time exceeds that of independent samples, as
 * its threads say that differ.
 *
 * Several threads in phases as long as the recording look steady together: each says one thing.  Where
 * the row's share is seen to change now and then (change_points.h), and its threads differ in it, they
 * are a few draws of the same, and the variance of their sum is that between them, with Student's t for
 * their number.  Where nothing changes threads may differ since they have different work, or are in
 * their first phase: how the row would come again is not known.
 * Only threads of one group are compared, as a main thread is not one of its workers.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread_spread_terms {
	const float *part, *whole; /* of SERIES_SLOTS slots of time */
	const float *part_of_thread, *whole_of_thread;
	const uint32_t *group_of_thread;
	size_t threads;
	double weight; /* one sample's */
};

/* 0 without two threads of a group, or without changes. */
double thread_spread_inflation(const struct thread_spread_terms *terms);
/*
 * Whether each thread that has others of its group is in the row all the time or not at all, and of
 * one group some are and some are not: in each it came in one stretch.
 */
bool thread_spread_is_once(const struct thread_spread_terms *terms);
