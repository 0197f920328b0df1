/*
 * terminal - what the terminal behind a descriptor, if there is one, can show.
 */
#pragma once
#include <stdbool.h>

struct error;
struct option;

enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* For struct option.set: place is an enum color_choice. */
int option_set_color(const struct option *option, void *place, const char *value,
		     struct error *err);
/*
 * In columns: of the terminal behind fd, else what COLUMNS says, else 100, so that what goes to a
 * file or a pipe is as wide as what is read.
 */
unsigned int terminal_width(int fd);
/* In rows, of the terminal behind fd; 0: there is none, or it does not say. */
unsigned int terminal_height(int fd);
/* Automatically: on a terminal that is not "dumb", unless NO_COLOR is set (no-color.org). */
bool terminal_has_color(int fd, enum color_choice choice);
