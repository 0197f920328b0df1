/*
 * machine_load - how much of the machine's processors was in use: the first line of /proc/stat.
 *
 * A program that had half a processor may have waited for something, or for the other half: this
 * is what says which.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Of all processors together, since the machine's start. */
struct machine_load {
	uint64_t all_ns;
	uint64_t idle_ns; /* also with reads or writes under way */
};

/* False where it cannot be read; all 0 then. */
bool machine_load_read(struct machine_load *out_load);
/* The same of the file's text; ticks are of so many ns. */
bool machine_load_parse(const char *text, uint64_t tick_ns, struct machine_load *out_load);
