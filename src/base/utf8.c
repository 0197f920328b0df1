#include "utf8.h"

#include <stdbool.h>

static bool is_continuation(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

/* The length of a sequence with this first byte, 0 if none begins with it. */
static size_t sequence_len(uint8_t first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	if (first >= 0xf0 && first <= 0xf4)
		return 4;
	return 0;
}

static bool is_encoded_shortest(uint32_t character, size_t len)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };

	return character >= smallest[len];
}

size_t utf8_decode(const char *bytes, size_t len, uint32_t *out_character)
{
	size_t need = len > 0 ? sequence_len((uint8_t)bytes[0]) : 0;
	uint32_t character;

	if (need == 0 || need > len)
		return 0;
	/* The first byte's payload: 7, 5, 4 or 3 bits. */
	character = (uint8_t)bytes[0] & (need == 1 ? 0x7fU : 0x7fU >> need);
	for (size_t i = 1; i < need; i++) {
		if (!is_continuation((uint8_t)bytes[i]))
			return 0;
		character = character << 6 | ((uint8_t)bytes[i] & 0x3f);
	}
	if (!is_encoded_shortest(character, need) || character > 0x10ffff ||
	    (character >= 0xd800 && character <= 0xdfff))
		return 0;
	if (out_character)
		*out_character = character;
	return need;
}

size_t utf8_cut(const char *bytes, size_t len)
{
	/* A sequence has at most three continuation bytes, so its first byte is near. */
	for (size_t back = 1; back <= 4 && back <= len; back++) {
		uint8_t byte = (uint8_t)bytes[len - back];

		if (is_continuation(byte))
			continue;
		return sequence_len(byte) > back ? len - back : len;
	}
	return len;
}
