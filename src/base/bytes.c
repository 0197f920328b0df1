#include "bytes.h"

#include <string.h>

/* Stops reading: after damage, everything else would be misinterpreted. */
static void set_short(struct bytes *b)
{
	b->at = b->end;
	b->short_read = true;
}

const void *bytes_take(struct bytes *b, size_t len)
{
	const void *taken = b->at;

	if (len > bytes_left(b)) {
		set_short(b);
		return NULL;
	}
	if (len > 0)
		b->at += len;
	return taken;
}

static uint64_t take_little_endian(struct bytes *b, size_t len)
{
	const uint8_t *taken = bytes_take(b, len);
	uint64_t value = 0;

	if (!taken)
		return 0;
	for (size_t i = len; i > 0; i--)
		value = value << 8 | taken[i - 1];
	return value;
}

uint8_t bytes_u8(struct bytes *b)
{
	return (uint8_t)take_little_endian(b, 1);
}

uint16_t bytes_u16(struct bytes *b)
{
	return (uint16_t)take_little_endian(b, 2);
}

uint32_t bytes_u32(struct bytes *b)
{
	return (uint32_t)take_little_endian(b, 4);
}

uint64_t bytes_u64(struct bytes *b)
{
	return take_little_endian(b, 8);
}

/*
 * Reads groups of seven bits up to the first byte without 0x80; stores the number of bits in
 * *out_bits and the last byte in *out_last. Ten groups hold 64 bits; more are damage.
 */
static uint64_t take_groups(struct bytes *b, unsigned *out_bits, uint8_t *out_last)
{
	uint64_t value = 0;

	for (unsigned bits = 0; bits < 70 && b->at != b->end; bits += 7) {
		uint8_t byte = *b->at++;

		value |= (uint64_t)(byte & 0x7f) << bits;
		if (byte & 0x80)
			continue;
		*out_bits = bits + 7;
		*out_last = byte;
		return value;
	}
	set_short(b);
	*out_bits = 0;
	*out_last = 0;
	return 0;
}

uint64_t bytes_varint(struct bytes *b)
{
	unsigned bits;
	uint8_t last;
	uint64_t value = take_groups(b, &bits, &last);

	/* The tenth group has one significant bit. */
	if (bits == 70 && last > 1) {
		set_short(b);
		return 0;
	}
	return value;
}

int64_t bytes_svarint(struct bytes *b)
{
	unsigned bits;
	uint8_t last;
	uint64_t value = take_groups(b, &bits, &last);

	/* The tenth group has the sign bit and copies of it. */
	if (bits == 70 && last != 0 && last != 0x7f) {
		set_short(b);
		return 0;
	}
	if (bits > 0 && bits < 64 && (last & 0x40))
		value |= UINT64_MAX << bits;
	return (int64_t)value;
}

const char *bytes_string(struct bytes *b)
{
	const uint8_t *nul = bytes_left(b) > 0 ? memchr(b->at, 0, bytes_left(b)) : NULL;

	if (!nul) {
		set_short(b);
		return NULL;
	}
	return bytes_take(b, (size_t)(nul - b->at) + 1);
}

size_t bytes_left(const struct bytes *b)
{
	return (size_t)(b->end - b->at);
}
