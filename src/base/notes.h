/*
 * notes - warnings that do not stop the work, counted and not repeated.
 *
 * The command prints them at the end.  A note that is added twice is kept once
 * with its count.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct notes;

struct notes *notes_new(void);
void notes_free(struct notes *notes);
void notes_freep(struct notes **notes);
void notes_add(struct notes *notes, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds each note of the others once. */
void notes_add_all(struct notes *notes, const struct notes *others);
size_t notes_count(const struct notes *notes);
/* The text of note i, and how often it was added in *out_times (may be NULL). */
const char *notes_text(const struct notes *notes, size_t i, uint64_t *out_times);
