/*
 * comments - describes a recording as a whole, one sentence a line.
 *
 * For formats that have comments but no fields for the CPU account. Inside export/ only.
 */
#pragma once

struct profile;

/* Calls add(context, line) for each line. Values that were not measured are left out. */
void comments_each(const struct profile *profile, void (*add)(void *context, const char *line),
		   void *context);
