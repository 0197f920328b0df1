/*
 * work - a program whose truth is known: three functions in turn, each with its own CPU time.
 *
 * doctor runs it bare and recorded.  It says how long each function ran by the thread's own
 * clock, which a profiler has no part in; turns differ in length, so that no period is in step
 * with them.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { WORK_FUNCTIONS = 3 };

struct work_times {
	uint64_t ns[WORK_FUNCTIONS]; /* CPU time in each */
};

/* As they stand in the symbol table: "doctor_work_mix". */
const char *work_function_name(unsigned i);
/* So many rounds, of about a millisecond each; the same number is the same work. */
void work_run(unsigned rounds, struct work_times *out_times);
/* A line of figures, and back. */
void work_format(const struct work_times *times, char *out_line, unsigned size);
bool work_parse(const char *line, struct work_times *out_times);
