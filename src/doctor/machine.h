/*
 * machine - what this machine and this place on it allow a recorder.
 */
#pragma once

struct checks;

/* The kernel, processors, the trigger, system time, and what restricts this process. */
void machine_check(struct checks *checks);
