/*
 * top_rows - the rows of a live view of a growing recording: their time in total, and since the
 * previous reading.
 *
 * Each reading loads the recording anew, with other ids, so rows are matched by name.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "profile/groups.h"

struct profile;

struct top_time {
	uint64_t self_ns, total_ns;
};

enum top_sort { TOP_SORT_SELF, TOP_SORT_TOTAL, TOP_SORT_SELF_ALL, TOP_SORT_TOTAL_ALL };

/* Strings live as long as the struct top_rows. */
struct top_row {
	const char *name;
	const char *place; /* "app.py:12"; "" */
	const char *kind;  /* "Python", "Ruby", "libc.so.6", "tid 12"; "" */
	struct top_time last, all;
	/* Their parts of total time by state, on the wall clock. */
	uint64_t last_states[THREAD_STATE_COUNT], all_states[THREAD_STATE_COUNT];
};

struct top_before {
	struct top_time time;
	uint64_t states[THREAD_STATE_COUNT];
};

/* Zero-initialized with `by` set is valid; top_rows_done(). */
struct top_rows {
	enum group_by by;
	struct top_row *rows;
	size_t count, capacity;
	uint64_t last_ns, all_ns; /* of everything: self and total are shares of it */
	bool has_states;          /* rows have them: on the wall clock */
	struct intern strings;
	struct top_before *before; /* by the number of a row's key */
	size_t before_count;
};

/* Reads the profile: growth since the previous reading is stored as `last`. */
void top_rows_read(struct top_rows *top, const struct profile *profile);
void top_rows_sort(struct top_rows *top, enum top_sort sort);
void top_rows_done(struct top_rows *top);
