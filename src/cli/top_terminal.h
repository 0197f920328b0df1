/*
 * top_terminal - the terminal of a live view: keys one by one, a screen of its own, its size.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Whether standard input and output are one that can be drawn on: no "dumb" one. */
bool top_terminal_is_there(void);
/* Takes it over.  False: it cannot be. */
bool top_terminal_enter(void);
/* Gives it back as it was; does nothing if it was not taken. */
void top_terminal_leave(void);
void top_terminal_size(unsigned int *out_columns, unsigned int *out_lines);
/* Replaces what is shown by these lines. */
void top_terminal_show(const char *lines, size_t len);
