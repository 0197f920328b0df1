/*
 * made_code - notes how to get names for code that a runtime made while its program ran (a
 * JIT).
 *
 * A JIT compiler leaves no file behind.  Most can write a perf map (/tmp/perf-PID.map) or a
 * jitdump, if they are asked to, and the recorder keeps those.
 */
#pragma once
#include <stdint.h>

struct error;
struct notes;
struct recording_reader;
struct table;

/* The option of the runtime that the program's name indicates, or general advice. */
const char *made_code_advice(const char *program);
/*
 * Adds a note for each program that had made code without names.  nameless: process → number of
 * addresses in such code.
 */
int made_code_note(struct recording_reader *reader, const struct table *nameless,
		   struct notes *notes, struct error *err);
