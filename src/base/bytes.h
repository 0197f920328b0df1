/*
 * bytes - reads untrusted bytes, little-endian, never past the end.
 *
 * A read past the end gives 0 and sets short_read: one check per record is enough. So does a
 * number too long for its type; nothing is read after that.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	const uint8_t *at;
	const uint8_t *end;
	bool short_read;
};

static inline struct bytes bytes_of(const void *data, size_t len)
{
	const uint8_t *at = data;

	/* NULL + 0 is not allowed in C. */
	return (struct bytes){ .at = at, .end = len > 0 ? at + len : at };
}

uint8_t bytes_u8(struct bytes *b);
uint16_t bytes_u16(struct bytes *b);
uint32_t bytes_u32(struct bytes *b);
uint64_t bytes_u64(struct bytes *b);
uint64_t bytes_varint(struct bytes *b); /* LEB128 */
int64_t bytes_svarint(struct bytes *b); /* SLEB128 */
/* The next len bytes in place, or NULL (and short_read). */
const void *bytes_take(struct bytes *b, size_t len);
/* A NUL-terminated string in place, or NULL (and short_read) when no NUL follows. */
const char *bytes_string(struct bytes *b);
size_t bytes_left(const struct bytes *b);
