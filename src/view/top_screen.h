/*
 * top_screen - renders a live view as text that fits a terminal, and handles its keys.
 *
 * Independent of any terminal: output is the same everywhere, and in tests.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "report/style.h"
#include "view/top_rows.h"

struct text;

/* The state that keys change. */
struct top_state {
	enum top_sort sort;
	enum group_by
		/*
		 * GROUP_BY_FUNCTION, THREAD, PROCESS or MODULE; on the wall clock also STATE.
		 */
		by;
	size_t first;   /* the topmost row */
	bool is_frozen; /* stop reading */
};

enum top_key {
	TOP_KEY_UP = 256,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
};

/*
 * Takes one key from a terminal's input, and stores how many bytes it took; 0: none. Escape
 * sequences that are not keys of ours give 0 with their length.
 */
int top_screen_take_key(const char *bytes, size_t len, size_t *out_taken);
/* Handles a key; false: quit. rows: per page. */
bool top_screen_press(struct top_state *state, int key, size_t rows);

struct top_screen {
	const struct top_rows *top;
	const struct top_state *state;
	const char *title;     /* the command, or the process */
	const char *status;    /* "12 s, 0.98 of a CPU"; or that the program has ended */
	const char *why_empty; /* shown instead of rows if there are none; NULL: unknown */
	bool has_wall;         /* times are threads' lives, not CPU time */
	unsigned int height;   /* in lines; 0: all rows, and no line of keys */
	size_t most_rows;      /* if height is 0 */
	struct style style;    /* includes the width */
};

/* Lines that are not rows. */
#define TOP_SCREEN_FRAME 5U

/* Each line ends with a newline, except the last of a screen. */
void top_screen_draw(const struct top_screen *screen, struct text *out);
