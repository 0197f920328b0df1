/*
 * top_terminal - controls the terminal of a live view: single keys, an alternate screen, its
 * size.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Whether standard input and output are a terminal that can be drawn on, not a "dumb" one. */
bool top_terminal_is_there(void);
/* Switches it to the view's mode. False: impossible. */
bool top_terminal_enter(void);
/* Restores it; does nothing if it was not switched. */
void top_terminal_leave(void);
void top_terminal_size(unsigned int *out_columns, unsigned int *out_lines);
/* Replaces the screen's contents by these lines. */
void top_terminal_show(const char *lines, size_t len);
