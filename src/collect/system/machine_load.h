/*
 * machine_load - busy and idle time of all processors together, from the first line of
 * /proc/stat.
 *
 * A program that used half a processor may have waited for something else, or for a free
 * processor: these figures show which.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Of all processors together, since the machine was booted. */
struct machine_load {
	uint64_t all_ns;
	uint64_t idle_ns; /* including iowait */
};

/* False, and all figures 0, if the file cannot be read. */
bool machine_load_read(struct machine_load *out_load);
/* The same from the file's text, with ticks of tick_ns. */
bool machine_load_parse(const char *text, uint64_t tick_ns, struct machine_load *out_load);
