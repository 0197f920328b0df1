/*
 * timers - the trigger where perf events are refused, or cost too much at each switch.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>

struct ring_header;

void timers_disarm_thread(void);
bool timers_are_of(const siginfo_t *info);
/*
 * In the handler of the timer of that number: false during a pause, when the next trap comes in
 * a second of CPU time.
 */
bool timers_may_sample(const struct ring_header *ring, int timer);
/* In the handler of an event's trap: arms timers in its place, if the recorder asks for it. */
void timers_look(struct ring_header *ring);
