/*
 * Answers questions about tables of lines, for test_python_line_tables.py: reads lines of
 *
 *   FORMAT FIRST_LINE COUNT STEP TABLE
 *
 * (enum python_table; the table in hexadecimal) and prints, for each, the lines of the
 * instructions 0, STEP, 2 * STEP … below COUNT in one line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "target/python_lines.h"

/* In place: what it gives is half as long. */
static size_t from_hexadecimal(char *text)
{
	size_t len = strspn(text, "0123456789abcdef") / 2;

	for (size_t i = 0; i < len; i++) {
		const char digits[3] = { text[2 * i], text[2 * i + 1], '\0' };

		text[i] = (char)strtoul(digits, NULL, 16);
	}
	return len;
}

static void answer(char *line)
{
	uint32_t numbers[4];
	char *at = line;

	for (size_t i = 0; i < 4; i++)
		numbers[i] = (uint32_t)strtoul(at, &at, 10);
	at += strspn(at, " ");

	size_t len = from_hexadecimal(at);

	/* A copy of its own, so that a sanitizer sees a read one byte too far. */
	CLEANUP(freep) uint8_t *table = xmalloc(len > 0 ? len : 1);
	memcpy(table, at, len);
	for (uint32_t i = 0; i < numbers[2]; i += numbers[3])
		printf("%" PRIu32 " ", python_line_of((enum python_table)numbers[0], table, len,
						      numbers[1], i));
	printf("\n");
}

int main(void)
{
	CLEANUP(freep) char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0)
		answer(line);
	return 0;
}
