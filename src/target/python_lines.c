/*
 * Decodes a code object's line table, which lists, step by step, how far the instruction and
 * the line advance, beginning at the first line. There have been four formats; all of them must
 * be read from the beginning.
 */
#include "python_lines.h"

#include "base/bytes.h"

/* The line after the steps so far; a table may go back before the first line. */
struct position {
	int64_t line;
	bool has_line;
};

static uint32_t line_of(struct position position)
{
	return position.has_line && position.line > 0 && position.line <= UINT32_MAX
		       ? (uint32_t)position.line
		       : 0;
}

/*
 * co_lnotab: pairs of (bytes of code, lines), lines signed from 3.6 on. The last line extends
 * to the end of the code, which the table does not contain.
 */
static uint32_t line_in_lnotab(struct bytes b, uint32_t first_line, uint32_t instruction,
			       bool is_signed)
{
	struct position position = { first_line, true };
	uint64_t address = 0;

	while (bytes_left(&b) > 0) {
		address += bytes_u8(&b);
		if (address > instruction)
			break;
		uint8_t lines = bytes_u8(&b);
		position.line += is_signed ? (int8_t)lines : lines;
	}
	return b.short_read ? 0 : line_of(position);
}

/* co_linetable of 3.10: pairs of (bytes of code, lines), -128 for code that has no line. */
static uint32_t line_in_pairs(struct bytes b, uint32_t first_line, uint32_t instruction)
{
	struct position position = { first_line, true };
	uint64_t end = 0, address = (uint64_t)instruction * 2;

	while (bytes_left(&b) > 0) {
		end += bytes_u8(&b);
		int8_t lines = (int8_t)bytes_u8(&b);
		position.has_line = lines != INT8_MIN;
		position.line += position.has_line ? lines : 0;
		if (end > address)
			return b.short_read ? 0 : line_of(position);
	}
	return 0;
}

/* The kinds of entries in co_linetable from 3.11 on. */
enum location_kind {
	LOCATION_ONE_LINE = 10, /* and 11, 12: advances by kind - 10 lines */
	LOCATION_NO_COLUMNS = 13,
	LOCATION_LONG = 14,
	LOCATION_NONE = 15,
};

/* Groups of six bits, lowest first; 0x40: another follows. */
static uint64_t take_varint(struct bytes *b)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = bytes_u8(b);
		if (shift < 60)
			value |= (uint64_t)(byte & 0x3f) << shift;
		shift += 6;
	} while (byte & 0x40);
	return value;
}

/* The lowest bit is the sign. */
static int64_t take_svarint(struct bytes *b)
{
	uint64_t value = take_varint(b);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* Reads the rest of an entry, after its first byte: returns how many lines it advances. */
static int64_t take_location(struct bytes *b, uint8_t kind)
{
	int64_t lines = 0;

	switch (kind) {
	case LOCATION_NONE:
		return 0;
	case LOCATION_LONG:
		lines = take_svarint(b);
		take_varint(b); /* the end's line */
		take_varint(b); /* columns */
		take_varint(b);
		return lines;
	case LOCATION_NO_COLUMNS:
		return take_svarint(b);
	default:
		if (kind < LOCATION_ONE_LINE) {
			bytes_take(b, 1);
			return 0;
		}
		bytes_take(b, 2);
		return kind - LOCATION_ONE_LINE;
	}
}

/* A larger sum ends decoding, so that nothing overflows; real programs stay far below. */
#define LINES_MAX (INT64_C(1) << 40)

static uint32_t line_in_locations(struct bytes b, uint32_t first_line, uint32_t instruction)
{
	struct position position = { first_line, true };
	uint64_t end = 0;

	while (bytes_left(&b) > 0) {
		uint8_t first = bytes_u8(&b), kind = first >> 3 & 15;
		int64_t lines = take_location(&b, kind);

		if ((first & 0x80) == 0 || b.short_read || lines > LINES_MAX ||
		    lines < -LINES_MAX)
			return 0;
		position.line += lines;
		position.has_line = kind != LOCATION_NONE;
		end += (first & 7) + 1U;
		if (end > instruction)
			return line_of(position);
	}
	return 0;
}

uint32_t python_line_of(enum python_table kind, const uint8_t *table, size_t len,
			uint32_t first_line, uint32_t instruction)
{
	struct bytes b = bytes_of(table, len);

	switch (kind) {
	case PYTHON_TABLE_LNOTAB_UNSIGNED:
		return line_in_lnotab(b, first_line, instruction, false);
	case PYTHON_TABLE_LNOTAB:
		return line_in_lnotab(b, first_line, instruction, true);
	case PYTHON_TABLE_PAIRS:
		return line_in_pairs(b, first_line, instruction);
	case PYTHON_TABLE_LOCATIONS:
		return line_in_locations(b, first_line, instruction);
	case PYTHON_TABLE_NONE:
	case PYTHON_TABLE_COUNT:
		break;
	}
	return 0;
}
