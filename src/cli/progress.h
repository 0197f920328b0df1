/*
 * progress - prints "looking up names: 45 %" on stderr, if that is a terminal and it takes
 * long.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialized is valid. */
struct progress {
	const char *what;                    /* NULL: looking up names */
	uint64_t started_at_ns, shown_at_ns; /* CLOCK_MONOTONIC */
	bool is_shown;
};

/*
 * For struct load_options and session_options: context is a struct progress. Erases the line
 * when done.
 */
void progress_report(void *context, size_t done, size_t total);
