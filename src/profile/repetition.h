/*
 * repetition - how much less than one sample each one says, where samples repeat each other.
 *
 * A program that is in a function for a while gives samples in a row that say the same; one
 * whose phases are regular gives some whose sums vary less than chance.  What samples said is
 * therefore summed over slots of time, and slots over batches: longer ones, until a batch says
 * nothing of the next.  How much batches differ from each other is what the whole sum may be off.
 *
 * Before a function's first sample and behind its last one nothing is said of how it repeats:
 * start-up code ran once, and how long is known.  Only what lies between is looked at.
 */
#pragma once
#include <stddef.h>

enum { REPETITION_SLOTS = 64 };

/*
 * The variance of the sum of part over what it would be if samples of weight were drawn one by
 * one: 1 if they say nothing of each other, 10 if ten say what one does.  part and whole are the
 * time of a row and of everything in each slot, in order; weight is one sample's, in the same unit.
 */
double repetition_of(const float *part, const float *whole, size_t count, double weight);
