/*
 * Parses perf maps: a JIT's list of its code as text, one piece a line: START SIZE NAME,
 * numbers in hexadecimal, the name up to the end of the line
 * (tools/perf/Documentation/jit-interface.txt of Linux). The file only grows, so later lines
 * are newer; the last one may be incomplete.
 */
#include "module.h"

#include <string.h>

#include "base/memory.h"
#include "named_ranges.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/*
 * Parses a number, with or without 0x, and the blanks after it; returns what follows, or NULL.
 */
static const char *take_hex(const char *at, const char *end, uint64_t *out_value)
{
	uint64_t value = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	const char *first = at;
	for (; at < end && hex_digit(*at) >= 0; at++) {
		if (value >> 60)
			return NULL;
		value = value << 4 | (unsigned)hex_digit(*at);
	}
	if (at == first || at == end || *at != ' ')
		return NULL;
	while (at < end && *at == ' ')
		at++;
	*out_value = value;
	return at;
}

static void add_line(struct named_ranges *named, const char *line, const char *end)
{
	uint64_t start;
	uint64_t len;

	const char *at = take_hex(line, end, &start);
	if (at)
		at = take_hex(at, end, &len);
	if (!at)
		return;
	while (end > at && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	size_t name_len = strnlen(at, (size_t)(end - at));
	if (name_len > 0)
		named_ranges_add(named, start, len, at, name_len);
}

void *perf_map_source_new(const char *text, size_t len, struct intern *strings)
{
	struct named_ranges *named = xzalloc(sizeof *named);
	const char *end = text + len;
	const char *newline;

	named->strings = strings;
	while (text < end && (newline = memchr(text, '\n', (size_t)(end - text)))) {
		add_line(named, text, newline);
		text = newline + 1;
	}
	range_map_finish(&named->by_address);
	return named;
}
