/*
 * top_loop - fathom top's loop: reads a growing recording, draws it, and handles keys, until
 * the recorder or the user ends it.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/terminal.h"

struct top_recorder;

struct top_options {
	bool has_terminal; /* else prints lines, as many rows each time */
	bool shows_plumbing;
	bool is_wall; /* times are threads' lives, not CPU time */
	uint64_t interval_ns;
	size_t rows;
	enum color_choice color;
	const char *title; /* names what is recorded */
};

/*
 * Blocks the signals that end or wake the loop. Call it before starting anything, so that none
 * is missed.
 */
void top_loop_prepare(void);
/*
 * Returns when the user quits (*out_is_quit), or when the recorder has ended. False: there was
 * never anything to show.
 */
bool top_loop_run(const struct top_options *options, struct top_recorder *recorder,
		  bool *out_is_quit);
