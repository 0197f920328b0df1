/*
 * command - the arguments of a process's command, as /proc has them.
 */
#pragma once

struct json_object;
struct remote;
struct text;

/* In one line, with blanks between; its program's name where there are none. */
void dump_add_command(const struct remote *remote, struct text *out);
/* An array of strings. */
struct json_object *dump_command_array(const struct remote *remote);
