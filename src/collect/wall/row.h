/* wall_row - what was read of a waiting thread, and a row of thread time for the recording. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum wall_row_kind {
	WALL_ROW_STACK,
	WALL_ROW_SHORT,     /* waits without a stack */
	WALL_ROW_QUEUE,     /* runnable, and not running */
	WALL_ROW_UNSAMPLED, /* it ran without a sample */
};

struct wall_row {
	enum wall_row_kind kind;
	uint8_t state;    /* enum wait_state */
	uint8_t ending;   /* of a stack: enum walk_status */
	uint32_t thread;  /* row of the recording, as stack */
	uint32_t stack;   /* WALL_ROW_STACK */
	uint64_t time_ns; /* CLOCK_MONOTONIC: its end */
	uint64_t ns;
};

/* Receives rows. */
struct wall_rows {
	void (*add)(void *context, const struct wall_row *row);
	void *context;
};

/* What was read of a waiting thread. */
struct wall_read {
	bool has_stack;      /* else its state is all that is known */
	bool is_provisional; /* incomplete: it is read again if it still waits */
	uint8_t state, ending;
	uint32_t stack, callers; /* with and without the leaf, what it waits for */
};
