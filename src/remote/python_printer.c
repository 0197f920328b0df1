#include "remote/python_printer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "walk/python_text.h"

#define MOST_CHARACTERS 60U
/* From 3.12 on lv_tag holds an int's size and sign. */
#define TAGGED_INTS PYTHON_VERSION_OF(3, 12)

/* Digits have 30 bits each; at most four are printed in full. */
void python_printer_int(struct python_printer *p, uint64_t object)
{
	uint64_t word, count;
	__extension__ unsigned __int128 value = 0;
	char digits[48];
	size_t at = sizeof digits;
	bool is_negative;

	if (!python_printer_read(p, object, PYTHON_VALUE_SIZE, &word)) {
		python_printer_unreadable(p, object);
		return;
	}
	is_negative = p->layout->version >= TAGGED_INTS ? (word & 3) == 2 : (int64_t)word < 0;
	count = p->layout->version >= TAGGED_INTS ? word >> 3 : is_negative ? 0 - word : word;
	if (count > 4) {
		text_addf(p->out, "<int of %" PRIu64 " bits at 0x%" PRIx64 ">", count * 30,
			  object);
		return;
	}
	for (uint64_t i = count; i-- > 0;) {
		uint32_t digit;

		if (mem_read(p->mem, &digit, sizeof digit,
			     object + p->more + PYTHON_VALUE_ITEMS + i * sizeof digit) < 0) {
			python_printer_unreadable(p, object);
			return;
		}
		value = value << 30 | (digit & ((1U << 30) - 1));
	}
	digits[--at] = '\0';
	do {
		digits[--at] = (char)('0' + (int)(value % 10));
		value /= 10;
	} while (value > 0);
	text_addf(p->out, "%s%s", is_negative ? "-" : "", digits + at);
}

/* With as few digits as distinguish the value from all other floats. */
void python_printer_float(struct python_printer *p, uint64_t object)
{
	char digits[32];
	double value;
	int precision = 15;

	if (mem_read(p->mem, &value, sizeof value, object + p->more + PYTHON_VALUE_SIZE) < 0) {
		python_printer_unreadable(p, object);
		return;
	}
	do {
		snprintf(digits, sizeof digits, "%.*g", precision, value);
	} while (precision++ < 17 && strtod(digits, NULL) != value);
	text_add(p->out, digits);
	if (strspn(digits, "-0123456789") == strlen(digits))
		text_add(p->out, ".0");
}

/* Adds it in quotes, with Python's escapes for characters that would end or break the line. */
static void add_quoted(struct python_printer *p, const uint8_t *bytes, size_t len, bool is_cut)
{
	text_add(p->out, "'");
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == '\'' || bytes[i] == '\\')
			text_addf(p->out, "\\%c", bytes[i]);
		else if (bytes[i] == '\n')
			text_add(p->out, "\\n");
		else if (bytes[i] < 0x20 || bytes[i] == 0x7f)
			text_addf(p->out, "\\x%02x", bytes[i]);
		else
			text_add_bytes(p->out, &bytes[i], 1);
	}
	text_add(p->out, is_cut ? "…'" : "'");
}

void python_printer_text(struct python_printer *p, uint64_t object)
{
	struct name_text text;
	size_t len;

	if (python_text_read(p->mem, p->layout, object, &text) < 0) {
		python_printer_unreadable(p, object);
		return;
	}
	len = text.length < MOST_CHARACTERS ? text.length : MOST_CHARACTERS;
	/* Do not cut within a character. */
	while (len < text.length && len > 0 && (text.bytes[len] & 0xc0) == 0x80)
		len--;
	add_quoted(p, text.bytes, len, text.is_cut || len < text.length);
}

void python_printer_bytes(struct python_printer *p, uint64_t object)
{
	const struct python_offsets *offsets = &p->layout->offsets;
	uint8_t bytes[MOST_CHARACTERS];
	uint64_t len;

	if (mem_read(p->mem, &len, sizeof len, object + offsets->bytes_length) < 0) {
		python_printer_unreadable(p, object);
		return;
	}
	const uint32_t part = len < sizeof bytes ? (uint32_t)len : (uint32_t)sizeof bytes;

	if (mem_read(p->mem, bytes, part, object + offsets->bytes_data) < 0) {
		python_printer_unreadable(p, object);
		return;
	}
	text_add(p->out, "b");
	text_add(p->out, "'");
	for (uint32_t i = 0; i < part; i++) {
		if (bytes[i] < 0x20 || bytes[i] >= 0x7f || bytes[i] == '\'' || bytes[i] == '\\')
			text_addf(p->out, "\\x%02x", bytes[i]);
		else
			text_add_bytes(p->out, &bytes[i], 1);
	}
	text_add(p->out, part < len ? "…'" : "'");
}
