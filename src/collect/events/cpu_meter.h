/*
 * cpu_meter - measures the CPU time of a process from a moment on, from outside.
 *
 * By counting events where perf allows them: exact, up to the end of the process's last thread.
 * Otherwise by the process's CPU clock, or by /proc for user time alone: these cannot be read
 * once the process has ended, so the last reading counts.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/events/thread_events.h"

struct cpu_meter {
	pid_t pid;
	bool is_user_clock;
	struct thread_events counters; /* empty: a clock is read */
	uint64_t begin_ns;             /* the clock's reading at the begin; 0 with counters */
	uint64_t read_ns;              /* the last reading */
};

/* Begins to measure this image of pid.  Counters end at its next exec. */
void cpu_meter_begin(struct cpu_meter *meter, pid_t pid, bool has_counters, bool is_user_clock);
uint64_t cpu_meter_read(struct cpu_meter *meter);
void cpu_meter_end(struct cpu_meter *meter);

/* Total CPU time of a process, by its CPU clock; 0 if there is no such process. */
uint64_t cpu_meter_process_ns(pid_t pid);
