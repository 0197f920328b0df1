/* command_line - parses the command that a recording contains, a JSON array of strings. */
#pragma once
#include <stddef.h>

struct profile;

/*
 * Parses json into an array of strings, all of it owned by profile.  Returns the count, 0 for
 * anything but an array of strings.  Bytes that are no UTF-8 and escapes of lone surrogates
 * are kept as they are written.
 */
size_t command_line_parse(const char *json, struct profile *profile,
			  const char *const **out_command);
