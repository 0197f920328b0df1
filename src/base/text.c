#include "text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "memory.h"
#include "utf8.h"

#define FIRST_CAPACITY ((size_t)64)

/* Reserves space for len more bytes and the NUL. */
static char *text_reserve(struct text *text, size_t len)
{
	size_t need, capacity;

	if (__builtin_add_overflow(text->len, len, &need) ||
	    __builtin_add_overflow(need, 1, &need))
		need = SIZE_MAX; /* ends in xreallocarray() */
	if (need > text->capacity) {
		if (__builtin_mul_overflow(text->capacity, 2, &capacity) || capacity < need)
			capacity = need < FIRST_CAPACITY ? FIRST_CAPACITY : need;
		text->data = xreallocarray(text->data, capacity, 1);
		text->capacity = capacity;
	}
	return text->data + text->len;
}

void text_add(struct text *text, const char *string)
{
	text_add_bytes(text, string, strlen(string));
}

void text_add_bytes(struct text *text, const void *bytes, size_t len)
{
	char *end = text_reserve(text, len);

	if (len > 0)
		memcpy(end, bytes, len);
	text->len += len;
	text->data[text->len] = '\0';
}

void text_addf(struct text *text, const char *format, ...)
{
	CLEANUP(freep) char *added = NULL;
	va_list args;

	va_start(args, format);
	added = xvasprintf(format, args);
	va_end(args);
	text_add(text, added);
}

const char *text_string(const struct text *text)
{
	return text->data ? text->data : "";
}

void text_clear(struct text *text)
{
	text->len = 0;
	if (text->data)
		text->data[0] = '\0';
}

void text_done(struct text *text)
{
	free(text->data);
	*text = (struct text){ 0 };
}

/* Which characters are escaped, besides invalid bytes. */
enum escaped {
	ESCAPED_NONE,
	ESCAPED_MISLEADING,
	ESCAPED_CONTROLS, /* and the misleading ones */
};

/*
 * DEL, C1 controls (which some terminals obey, too), and Unicode's controls of text direction.
 */
static bool is_misleading(uint32_t character)
{
	return (character >= 0x7f && character < 0xa0) || character == 0x61c ||
	       character == 0x200e || character == 0x200f ||
	       (character >= 0x202a && character <= 0x202e) ||
	       (character >= 0x2066 && character <= 0x2069);
}

static bool is_escaped(uint32_t character, enum escaped escaped)
{
	return (escaped == ESCAPED_CONTROLS && character < 0x20) ||
	       (escaped != ESCAPED_NONE && is_misleading(character));
}

static void add_escaped(struct text *text, const char *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		uint8_t byte = (uint8_t)bytes[i];
		char escape[] = { '\\', 'x', digits[byte >> 4], digits[byte & 15] };

		text_add_bytes(text, escape, sizeof escape);
	}
}

static void add_utf8(struct text *text, const char *bytes, size_t len, enum escaped escaped)
{
	while (len > 0) {
		uint32_t character = 0;
		size_t taken = utf8_decode(bytes, len, &character);

		if (taken == 0)
			add_escaped(text, bytes, taken = 1);
		else if (is_escaped(character, escaped))
			add_escaped(text, bytes, taken);
		else
			text_add_bytes(text, bytes, taken);
		bytes += taken;
		len -= taken;
	}
}

void text_add_utf8(struct text *text, const char *bytes, size_t len)
{
	add_utf8(text, bytes, len, ESCAPED_NONE);
}

void text_add_shown(struct text *text, const char *bytes, size_t len)
{
	add_utf8(text, bytes, len, ESCAPED_MISLEADING);
}

void text_add_printable(struct text *text, const char *bytes, size_t len)
{
	add_utf8(text, bytes, len, ESCAPED_CONTROLS);
}

size_t text_columns(const char *string)
{
	size_t columns = 0, left = strlen(string);

	while (left > 0) {
		uint32_t character = 0;
		size_t taken = utf8_decode(string, left, &character);
		int width = taken > 0 ? wcwidth((wchar_t)character) : 1;

		columns += width >= 0 ? (size_t)width : 1;
		string += taken > 0 ? taken : 1;
		left -= taken > 0 ? taken : 1;
	}
	return columns;
}
