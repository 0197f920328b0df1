/*
 * say - what fathom writes to stderr: one sentence to a line, "fathom: " in front.
 *
 * Bytes that a terminal would act on are escaped.  A stderr that cannot be written is
 * no failure.
 */
#pragma once

struct error;
struct notes;

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_error(const struct error *err);
/* Each note once, with how often it came up. */
void say_notes(const struct notes *notes);
