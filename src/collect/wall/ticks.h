/*
 * wall_ticks - when threads are read on the wall clock.
 *
 * Each tick is at another place of its period: the places are spread evenly, by the golden ratio,
 * so two ticks are 0.62 or 1.62 periods apart. A tick delays threads that wake up then, and a
 * program whose waits repeat about as often as ticks come would fall into step with regular ones:
 * these would find the same wait again and again.
 */
#pragma once
#include <stdint.h>

struct wall_ticks {
	uint64_t length_ns; /* of a period */
	uint64_t period_ns; /* when the next tick's period begins */
	uint32_t place;     /* of that tick in it, in 2^-32 of its length */
};

/* The first period begins now. */
void wall_ticks_begin(struct wall_ticks *ticks, uint64_t length_ns, uint64_t now_ns);
/* When the next tick is due: in that many periods; not before half a period from now. */
uint64_t wall_ticks_next(struct wall_ticks *ticks, uint64_t periods, uint64_t now_ns);
