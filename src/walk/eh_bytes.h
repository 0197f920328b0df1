/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * eh_bytes - reads the numbers of .eh_frame from the target's memory, never past an end.
 *
 * Reads past the end, or of unreadable memory, return 0 and set `failed`: one check after a group
 * of reads suffices.
 */
#pragma once
#include "mem.h"

/* Most FDEs are shorter than this, so they cost one read. */
#define EH_BYTES_WINDOW   64
#define EH_BYTES_HALVINGS 7 /* of the window, down to nothing */

/* Of the code's machine; what reads 32-bit code's says so before. */
#ifndef EH_POINTER_SIZE
#define EH_POINTER_SIZE 8
#endif

struct eh_bytes {
	struct mem *mem;
	u64 at;     /* the address of the next byte */
	u64 end;    /* the first address that may not be read */
	u64 window; /* the address bytes[] was copied from */
	u32 window_len;
	u8 failed;
	u8 bytes[EH_BYTES_WINDOW];
};

/* Pointer encodings (LSB, "DWARF Exception Header Encoding"): a format and a base. */
enum {
	EH_ENC_ABSPTR = 0x00,
	EH_ENC_ULEB128 = 0x01,
	EH_ENC_UDATA2 = 0x02,
	EH_ENC_UDATA4 = 0x03,
	EH_ENC_UDATA8 = 0x04,
	EH_ENC_SLEB128 = 0x09,
	EH_ENC_SDATA2 = 0x0a,
	EH_ENC_SDATA4 = 0x0b,
	EH_ENC_SDATA8 = 0x0c,
	EH_ENC_FORMAT_MASK = 0x0f,
	EH_ENC_PCREL = 0x10,
	EH_ENC_DATAREL = 0x30,
	EH_ENC_BASE_MASK = 0x70,
	EH_ENC_INDIRECT = 0x80,
	EH_ENC_OMIT = 0xff,
};

/* Moves to the bytes [at, end); what was copied before stays usable. */
static inline void eh_bytes_seek(struct eh_bytes *b, u64 at, u64 end)
{
	b->at = at;
	b->end = end;
}

static inline void eh_bytes_init(struct eh_bytes *b, struct mem *mem, u64 at, u64 end)
{
	b->mem = mem;
	b->window = 0;
	b->window_len = 0;
	b->failed = 0;
	eh_bytes_seek(b, at, end);
}

/*
 * Copies the bytes that begin at b->at; false if none can be read.  If memory ends before `end`
 * (a section's length is not always known), copies less.
 */
static inline int eh_bytes_fill(struct eh_bytes *b)
{
	u64 left = b->end - b->at;
	u32 len = b->at >= b->end ? 0 : left < EH_BYTES_WINDOW ? (u32)left : EH_BYTES_WINDOW;

	for (u32 i = 0; i < EH_BYTES_HALVINGS && len > 0; i++) {
		if (mem_read(b->mem, b->bytes, len, b->at) == 0)
			break;
		len /= 2;
	}
	if (len == 0) {
		b->failed = 1;
		b->at = b->end;
		return 0;
	}
	b->window = b->at;
	b->window_len = len;
	return 1;
}

static inline u8 eh_bytes_u8(struct eh_bytes *b)
{
	u64 index = b->at - b->window;

	if (b->at >= b->end || index >= b->window_len) {
		if (!eh_bytes_fill(b))
			return 0;
		index = 0;
	}
	b->at++;
	return b->bytes[index & (EH_BYTES_WINDOW - 1)];
}

static inline u64 eh_bytes_unsigned(struct eh_bytes *b, u32 size)
{
	u64 value = 0;

	for (u32 i = 0; i < 8 && i < size; i++)
		value |= (u64)eh_bytes_u8(b) << (8 * i);
	return value;
}

static inline s64 eh_bytes_signed(struct eh_bytes *b, u32 size)
{
	u32 unused_bits = 64 - 8 * size;

	return (s64)(eh_bytes_unsigned(b, size) << unused_bits) >> unused_bits;
}

/* Ten groups of seven bits hold 64; a longer number is damaged. */
#define EH_BYTES_LEB128_MAX 10

/* The value of all groups; *out_bits: how many bits they have. */
static inline u64 eh_bytes_leb128(struct eh_bytes *b, u32 *out_bits)
{
	u64 value = 0;
	u32 shift = 0;

	for (u32 i = 0; i < EH_BYTES_LEB128_MAX; i++) {
		u8 group = eh_bytes_u8(b);
		value |= (u64)(group & 0x7f) << shift;
		shift += 7;
		if (!(group & 0x80)) {
			*out_bits = shift;
			return value;
		}
		if (shift >= 64)
			break;
	}
	b->failed = 1;
	*out_bits = 64;
	return 0;
}

static inline u64 eh_bytes_uleb(struct eh_bytes *b)
{
	u32 bits;

	return eh_bytes_leb128(b, &bits);
}

static inline s64 eh_bytes_sleb(struct eh_bytes *b)
{
	u32 bits;
	u64 value = eh_bytes_leb128(b, &bits);

	if (bits < 64 && (value >> (bits - 1) & 1))
		value |= ~0ULL << bits;
	return (s64)value;
}

static inline u64 eh_bytes_in_format(struct eh_bytes *b, u8 format)
{
	switch (format) {
	case EH_ENC_ABSPTR:
		return eh_bytes_unsigned(b, EH_POINTER_SIZE);
	case EH_ENC_UDATA8:
	case EH_ENC_SDATA8:
		return eh_bytes_unsigned(b, 8);
	case EH_ENC_ULEB128:
		return eh_bytes_uleb(b);
	case EH_ENC_UDATA2:
		return eh_bytes_unsigned(b, 2);
	case EH_ENC_UDATA4:
		return eh_bytes_unsigned(b, 4);
	case EH_ENC_SLEB128:
		return (u64)eh_bytes_sleb(b);
	case EH_ENC_SDATA2:
		return (u64)eh_bytes_signed(b, 2);
	case EH_ENC_SDATA4:
		return (u64)eh_bytes_signed(b, 4);
	default:
		b->failed = 1;
		return 0;
	}
}

/*
 * Reads a pointer in the given encoding.  data_base is the base for EH_ENC_DATAREL.  No linker
 * uses the other bases (text, function, aligned) for what we read.  An indirect pointer is not
 * dereferenced: only personality routines have such, which are read only to be skipped.
 */
static inline u64 eh_bytes_pointer(struct eh_bytes *b, u8 encoding, u64 data_base)
{
	u64 field = b->at;
	u64 value = eh_bytes_in_format(b, encoding & EH_ENC_FORMAT_MASK);

	switch (encoding & EH_ENC_BASE_MASK) {
	case 0:
		return value;
	case EH_ENC_PCREL:
		return field + value;
	case EH_ENC_DATAREL:
		return data_base + value;
	default:
		b->failed = 1;
		return 0;
	}
}
