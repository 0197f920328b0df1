/*
 * text - a growing string, and the escapes shared by all outputs.
 *
 * A zero-initialized `struct text` is an empty one.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct text {
	char *data; /* NUL-terminated; NULL until something was added */
	size_t len;
	size_t capacity;
};

void text_add(struct text *text, const char *string);
void text_add_bytes(struct text *text, const void *bytes, size_t len);
void text_addf(struct text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The string, "" if nothing was added.  Lives until the next call that changes text. */
const char *text_string(const struct text *text);
void text_clear(struct text *text); /* keeps the memory */
void text_done(struct text *text);

/*
 * Adds bytes as valid UTF-8: a byte that belongs to no valid sequence becomes "\xHH" (four
 * characters).  The escape that report-json.md documents.
 */
void text_add_utf8(struct text *text, const char *bytes, size_t len);
/*
 * Like text_add_utf8(), and also escapes characters that change how others are shown and that
 * JSON and HTML let pass: DEL, C1 controls, and those that reverse the text direction (U+202E).
 * For JSON and HTML.
 */
void text_add_shown(struct text *text, const char *bytes, size_t len);
/* Like text_add_shown(), and also escapes C0 controls as "\xHH": safe on a terminal. */
void text_add_printable(struct text *text, const char *bytes, size_t len);
/*
 * Columns that the UTF-8 string takes on a terminal (by wcwidth(), 1 for characters unknown to
 * it).
 */
size_t text_columns(const char *string);
