/*
 * wall_row - what was read of a thread that waits, and a row of the recording that it becomes.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum wall_row_kind {
	WALL_ROW_STACK,
	WALL_ROW_SHORT,     /* waits without a stack */
	WALL_ROW_QUEUE,     /* runnable, and not running */
	WALL_ROW_UNSAMPLED, /* it ran, and no sample stands for that */
};

struct wall_row {
	enum wall_row_kind kind;
	uint8_t state;    /* enum wait_state */
	uint8_t ending;   /* of a stack: enum walk_status */
	uint32_t thread;  /* the recording's, as the stack */
	uint32_t stack;   /* WALL_ROW_STACK */
	uint64_t time_ns; /* CLOCK_MONOTONIC: its end */
	uint64_t ns;
};

/* Where rows go. */
struct wall_rows {
	void (*add)(void *context, const struct wall_row *row);
	void *context;
};

/* What was read of a thread that waits. */
struct wall_read {
	bool has_stack;      /* else its state is all that is known */
	bool is_provisional; /* less is known than could be: if it waits on it is read again */
	uint8_t state, ending;
	uint32_t stack, callers; /* with its leaf, what is waited for, and without */
};
