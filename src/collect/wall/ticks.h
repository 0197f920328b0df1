/*
 * wall_ticks - when threads are read on the wall clock.
 *
 * Each period has one, at a place of it that is drawn at random: a program whose waits repeat
 * about as often as ticks come would fall into step with regular ones, which would find the same
 * wait again and again. With all places of a period equally likely no program can: of other
 * sequences (places spread evenly by the golden ratio, for example) each is in step with some
 * lengths. A recording's ticks differ from those of the next, so that the mean of several is right
 * for what a program does once as well.
 */
#pragma once
#include <stdint.h>

struct wall_ticks {
	uint64_t length_ns; /* of a period */
	uint64_t period_ns; /* when the next tick's period begins */
	uint64_t random;    /* what its place is made of */
};

/* The first period begins now; places are made of the random number. */
void wall_ticks_begin(struct wall_ticks *ticks, uint64_t length_ns, uint64_t now_ns,
		      uint64_t random);
/* When the next tick is due: in that many periods; not before an eighth of one from now. */
uint64_t wall_ticks_next(struct wall_ticks *ticks, uint64_t periods, uint64_t now_ns);
