/*
 * The input is a table of lines: a byte for its format, one for the first line, the rest is the
 * table.  Reading ends, whatever it says, and an instruction's line is the same each time.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target/python_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t instructions[] = { 0, 1, 2, 255, 65536, UINT32_MAX };

	if (size < 2)
		return 0;

	enum python_table kind = (enum python_table)(data[0] % (PYTHON_TABLE_COUNT + 1));
	size_t len = size - 2;
	/* A copy of its own, so that a sanitizer sees a read one byte too far. */
	uint8_t *table = malloc(len > 0 ? len : 1);

	memcpy(table, data + 2, len);
	for (size_t i = 0; i < sizeof instructions / sizeof instructions[0]; i++) {
		uint32_t line = python_line_of(kind, table, len, data[1], instructions[i]);

		if (line != python_line_of(kind, table, len, data[1], instructions[i]))
			abort();
		/* From 3.10 on a table says how long the code is: never as long as this. */
		if (kind >= PYTHON_TABLE_PAIRS && instructions[i] > 256 * len && line != 0)
			abort();
	}
	free(table);
	return 0;
}
