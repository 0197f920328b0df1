/*
 * top_screen - a live view as text: as many lines as a terminal has, none wider; and its keys.
 *
 * Knows no terminal: what is drawn is the same on any, and in a test.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "report/style.h"
#include "view/top_rows.h"

struct text;

/* What the keys change. */
struct top_state {
	enum top_sort sort;
	enum group_by
		by; /* GROUP_BY_FUNCTION, THREAD, PROCESS or MODULE; of the wall clock STATE */
	size_t first;   /* the row at the top */
	bool is_frozen; /* no more is read */
};

enum top_key {
	TOP_KEY_UP = 256,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
};

/*
 * One key out of what a terminal sends, and how many bytes it took; 0: none.  Escape sequences that
 * are no key of ours give 0 with their length.
 */
int top_screen_take_key(const char *bytes, size_t len, size_t *out_taken);
/* False: it is to end.  rows: as many as a page has. */
bool top_screen_press(struct top_state *state, int key, size_t rows);

struct top_screen {
	const struct top_rows *top;
	const struct top_state *state;
	const char *title;     /* the command, or the process */
	const char *status;    /* "12 s, 0.98 of a CPU"; or that it has ended */
	const char *why_empty; /* in place of rows where there are none; NULL: not known */
	bool has_wall;         /* threads' lives, not CPU time */
	unsigned int height;   /* lines; 0: all rows, no keys at the bottom */
	size_t most_rows;      /* if height is 0 */
	struct style style;    /* and the width */
};

/* Lines that are not rows. */
#define TOP_SCREEN_FRAME 5U

/* Each line ends with a newline but the last of a screen. */
void top_screen_draw(const struct top_screen *screen, struct text *out);
