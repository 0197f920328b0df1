/*
 * timers - replaces perf events by CPU timers where those are refused or slow switches too much.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>

struct ring_header;

void timers_disarm_thread(void);
bool timers_are_of(const siginfo_t *info);
/* In the handler of a timer (its number).  False: paused, next trap after 1 s of CPU time. */
bool timers_may_sample(const struct ring_header *ring, int timer);
/* In the handler of an event's trap: replaces events by timers, if the recorder asks for it. */
void timers_look(struct ring_header *ring);
