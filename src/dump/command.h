/* command - shows a process's command line, as in /proc. */
#pragma once

struct json_object;
struct remote;
struct text;

/* Adds it as one line, separated by blanks; the program's name if there are no arguments. */
void dump_add_command(const struct remote *remote, struct text *out);
/* Returns it as an array of strings. */
struct json_object *dump_command_array(const struct remote *remote);
