/*
 * say - prints messages on stderr: one sentence a line, preceded by "fathom: ".
 *
 * Bytes that a terminal would act on are escaped. Failing to write is ignored.
 */
#pragma once

struct error;
struct notes;

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_error(const struct error *err);
/* Prints each note once, with its count. */
void say_notes(const struct notes *notes);
