/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * python_text - reads a CPython str as UTF-8.
 *
 * A str has one, two or four bytes per character, whichever suffices for all (PEP 393).  Bytes of
 * system names that are not UTF-8 are stored as U+DC80 to U+DCFF (PEP 383), and become bytes
 * again here.  2.7's str consists of bytes already.
 */
#pragma once
#include "name_text.h"
#include "python_memory.h"

/* The hash of a text that was not hashed yet. */
#define PYTHON_NO_HASH (~0ULL)

/* Where a text's characters are, and their form. */
struct python_shape {
	u64 data;
	u64 length; /* in characters */
	u64 hash;   /* the interpreter's own, or PYTHON_NO_HASH */
	u8 kind;    /* bytes per character */
	u8 is_bytes;
};

/*
 * PyASCIIObject.state begins with `interned`: two bits, or a field of its own where it is changed
 * atomically (free-threaded builds).  Its values are below four, and kind is never 0: so the word
 * itself shows where kind is.
 */
static inline int python_shape_of_state(u32 state, u8 *out_kind, u8 *out_is_ascii)
{
	static const u8 shifts[] = { 2, 8, 16 };

	for (u32 i = 0; i < sizeof shifts; i++) {
		const u8 kind = state >> shifts[i] & 7;
		const u8 is_compact = state >> (shifts[i] + 3) & 1;

		*out_kind = kind;
		*out_is_ascii = state >> (shifts[i] + 4) & 1;
		if (kind != 0)
			return is_compact && (kind == 1 ||
					      (!*out_is_ascii && kind != 3 && kind <= 4))
				       ? 0
				       : -1;
	}
	return -1;
}

/*
 * The hash follows the length in str and bytes of every version, and the str's state follows the
 * hash (unicodeobject.h, bytesobject.h; 2.7's stringobject.h).
 */
struct python_text_head {
	u64 length, hash;
	u32 state, padding;
};

static inline int python_text_shape(struct mem *mem, const struct python_layout *layout,
				    u64 text, struct python_shape *out_shape)
{
	const struct python_offsets *offsets = &layout->offsets;
	struct python_text_head head;
	u8 is_ascii;

	if (!layout->has_unicode) {
		out_shape->kind = 1;
		out_shape->is_bytes = 1;
		out_shape->data = text + offsets->bytes_data;
		if (mem_read(mem, &head, 2 * sizeof(u64), text + offsets->bytes_length) < 0)
			return -1;
		out_shape->length = head.length;
		out_shape->hash = head.hash;
		return 0;
	}
	if (mem_read(mem, &head, sizeof head, text + offsets->text_length) < 0 ||
	    python_shape_of_state(head.state, &out_shape->kind, &is_ascii) < 0)
		return -1;
	out_shape->length = head.length;
	out_shape->hash = head.hash;
	out_shape->is_bytes = is_ascii;
	out_shape->data = text + (is_ascii ? offsets->text_ascii : offsets->text_compact);
	return 0;
}

/*
 * Reads the text at address `object`, cut if it is too long.  0, or negative if it is no readable
 * text; *out_text is empty then.
 */
static inline int python_text_read(struct mem *mem, const struct python_layout *layout,
				   u64 object, struct name_text *out_text)
{
	struct python_shape shape;
	u64 character = 0; /* the first `kind` bytes are read */

	out_text->length = 0;
	out_text->is_cut = 0;
	if (object == 0 || python_text_shape(mem, layout, object, &shape) < 0)
		return -1;
	for (u32 i = 0; i < NAME_TEXT_MAX && i < shape.length && !out_text->is_cut; i++) {
		if (mem_read(mem, &character, shape.kind, shape.data + i * shape.kind) < 0) {
			out_text->is_cut = 1;
			return 0;
		}
		if (shape.is_bytes)
			name_text_put(out_text, (u32)character);
		else
			name_text_append(out_text, (u32)character);
	}
	if (shape.length > NAME_TEXT_MAX)
		out_text->is_cut = 1;
	return 0;
}
