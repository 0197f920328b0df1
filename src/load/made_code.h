/*
 * made_code - how to have names for code that a runtime made while its program ran.
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

/* What to pass to the runtime that a program is known by, or what there is in general. */
const char *made_code_advice(const char *program);
/*
 * A note for each program that had made code without names.  nameless: process → addresses of
 * its made code that no name was found for.
 */
int made_code_note(struct recording_reader *reader, const struct table *nameless,
		   struct notes *notes, struct error *err);
