/* terminal - what a terminal can show: its size and colours. */
#pragma once
#include <stdbool.h>

struct error;
struct option;

enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* For struct option.set: place is an enum color_choice. */
int option_set_color(const struct option *option, void *place, const char *value,
		     struct error *err);
/*
 * In columns: of the terminal behind fd, else COLUMNS, else 100, so that files and pipes get
 * lines as wide as a reader's screen.
 */
unsigned int terminal_width(int fd);
/* In rows, of the terminal behind fd; 0: no terminal, or unknown. */
unsigned int terminal_height(int fd);
/*
 * COLOR_AUTO: colours on a terminal that is not "dumb", unless NO_COLOR is set (no-color.org).
 */
bool terminal_has_color(int fd, enum color_choice choice);
