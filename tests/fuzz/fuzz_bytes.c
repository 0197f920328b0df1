/*
 * The first byte of each step chooses a read; the rest of the input is what is read.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

static void read_one(struct bytes *b)
{
	const char *string;

	switch (bytes_u8(b) % 8) {
	case 0:
		bytes_u16(b);
		break;
	case 1:
		bytes_u32(b);
		break;
	case 2:
		bytes_u64(b);
		break;
	case 3:
		bytes_varint(b);
		break;
	case 4:
		bytes_svarint(b);
		break;
	case 5:
		bytes_take(b, bytes_u8(b));
		break;
	case 6:
		string = bytes_string(b);
		check(!string || strlen(string) < SIZE_MAX);
		break;
	default:
		bytes_take(b, bytes_u64(b));
		break;
	}
}

/* What is escaped is valid, and so escaping it again changes nothing. */
static void check_text(const char *bytes, size_t len)
{
	struct text once = { 0 }, twice = { 0 };

	text_add_utf8(&once, bytes, len);
	text_add_utf8(&twice, text_string(&once), once.len);
	check(once.len == twice.len);
	check(once.len == 0 || memcmp(once.data, twice.data, once.len) == 0);
	text_clear(&once);
	text_add_printable(&once, bytes, len);
	check(strlen(text_string(&once)) == once.len);
	check(text_columns(text_string(&once)) <= 2 * once.len);
	text_done(&once);
	text_done(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = bytes_of(data, size);
	size_t left = size;

	while (bytes_left(&b) > 0) {
		read_one(&b);
		check(bytes_left(&b) < left);
		left = bytes_left(&b);
	}
	bytes_u8(&b);
	check(b.short_read);
	check_text((const char *)data, size);
	return 0;
}
