/*
 * work - a workload with known true times: three functions in turn, each with its own CPU time.
 *
 * doctor runs it plain and recorded. It prints how long each function ran by the thread's own
 * clock, independent of any profiler; turns differ in length, so that no sampling period is in
 * step with them.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { WORK_FUNCTIONS = 3 };

struct work_times {
	uint64_t ns[WORK_FUNCTIONS]; /* CPU time in each */
};

/* The name in the symbol table: "doctor_work_mix". */
const char *work_function_name(unsigned i);
/* Does so many rounds, of about a millisecond each; equal numbers are equal work. */
void work_run(unsigned rounds, struct work_times *out_times);
/* Formats the times as a line, and parses it. */
void work_format(const struct work_times *times, char *out_line, unsigned size);
bool work_parse(const char *line, struct work_times *out_times);
