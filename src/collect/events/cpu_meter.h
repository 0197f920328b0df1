/*
 * cpu_meter - what a process burns from a moment on, looked at from outside.
 *
 * Counting events where they can be had: exact, to the end of the process's last thread.
 * Otherwise the process's own clock, or /proc for user time alone: those end with the process,
 * and what was read last stands.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/events/thread_events.h"

struct cpu_meter {
	pid_t pid;
	bool is_user_clock;
	struct thread_events counters; /* none: a clock is read */
	uint64_t begin_ns;             /* of that clock; of counters 0 */
	uint64_t read_ns;              /* the last reading */
};

/* Begins to measure this image of pid; its next exec is the end. */
void cpu_meter_begin(struct cpu_meter *meter, pid_t pid, bool has_counters, bool is_user_clock);
uint64_t cpu_meter_read(struct cpu_meter *meter);
void cpu_meter_end(struct cpu_meter *meter);

/* What a process burned in all, by its own clock; 0 if there is no such process. */
uint64_t cpu_meter_process_ns(pid_t pid);
