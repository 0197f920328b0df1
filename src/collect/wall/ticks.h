/*
 * wall_ticks - when threads are read on the wall clock.
 *
 * Two ticks are half a period to one and a half apart, at random, each distance equally likely.
 * If a program's waits repeat once in each period, or a whole number of times, regular ticks would
 * always find the same one. With these each is found as if moments had been drawn
 * at random, or better, whatever the program repeats. (Places of ticks in
 * their periods that are spread evenly, by the golden ratio for example, are in step with some
 * lengths.) The ticks of one recording differ from those of the next, so the mean of several is
 * right for what a program does once as well.
 */
#pragma once
#include <stdint.h>

struct wall_ticks {
	uint64_t length_ns; /* of a period */
	uint64_t due_ns;    /* when the last tick was due */
	uint64_t random;    /* what its distance was made of */
};

/* Distances are made of the random number, and the first one from now on. */
void wall_ticks_begin(struct wall_ticks *ticks, uint64_t length_ns, uint64_t now_ns,
		      uint64_t random);
/* When the next tick is due: in about that many periods, and at least an eighth of one from now. */
uint64_t wall_ticks_next(struct wall_ticks *ticks, uint64_t periods, uint64_t now_ns);
