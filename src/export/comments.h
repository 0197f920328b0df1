/*
 * comments - what is true of a recording as a whole, one sentence a line.
 *
 * For formats that have a place for remarks but none for the CPU account.
 * Inside export/ only.
 */
#pragma once

struct profile;

/* Hands each line to add(context, line).  Figures that were not measured are left out. */
void comments_each(const struct profile *profile, void (*add)(void *context, const char *line),
		   void *context);
