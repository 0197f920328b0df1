/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_text - reads a CRuby String as bytes.
 *
 * A String has its bytes within the object or elsewhere, and an encoding.  Names and paths are
 * UTF-8 or ASCII, unless a program is written in another encoding; the bytes are kept as they
 * are, and their receiver must check whether they are UTF-8 (abi/ring.h).
 */
#pragma once
#include "code_key.h"
#include "name_text.h"
#include "ruby_memory.h"

/* RSTRING_NOEMBED, and where the length of an embedded String is in flags (up to 3.1). */
#define RUBY_TEXT_IS_APART     (1ULL << (RUBY_USER_SHIFT + 1))
#define RUBY_TEXT_LENGTH_SHIFT (RUBY_USER_SHIFT + 2)
#define RUBY_TEXT_LENGTH_MASK  0x1f

/* Words from a text's beginning, and from its end, that enter a key. */
#define RUBY_KEY_WORDS 4

struct ruby_shape {
	u64 data;
	u64 length;
};

/* Finds a String's bytes: 0, or negative if the object is no readable String. */
static inline int ruby_text_shape(struct mem *mem, const struct ruby_layout *layout, u64 text,
				  struct ruby_shape *out_shape)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	const u64 flags = ruby_flags_of(mem, text);

	if ((flags & RUBY_TYPE_MASK) != RUBY_T_STRING)
		return -1;
	if ((flags & RUBY_TEXT_IS_APART) == 0 && layout->text_length_in_flags) {
		out_shape->data = text + offsets->text_embedded;
		out_shape->length = flags >> RUBY_TEXT_LENGTH_SHIFT & RUBY_TEXT_LENGTH_MASK;
		return 0;
	}
	if (ruby_read(mem, &out_shape->length, text, offsets->text_length) < 0)
		return -1;
	if (out_shape->length >> 32 != 0)
		return -1; /* too long for a name: it is being changed, or damaged */
	out_shape->data = text + offsets->text_embedded;
	if (flags & RUBY_TEXT_IS_APART)
		return ruby_read(mem, &out_shape->data, text, offsets->text_pointer);
	return 0;
}

/* Appends as much of a String as there is room for; negative: it cannot be read. */
static inline int ruby_text_append(struct mem *mem, const struct ruby_layout *layout, u64 text,
				   struct name_text *out_text)
{
	struct ruby_shape shape;
	u32 room, length;

	if (out_text->length > NAME_TEXT_MAX || ruby_text_shape(mem, layout, text, &shape) < 0)
		return -1;
	room = NAME_TEXT_MAX - out_text->length;
	length = shape.length < room ? (u32)shape.length : room;
	if (length > 0 &&
	    mem_read(mem, out_text->bytes + out_text->length, length, shape.data) < 0)
		return -1;
	out_text->length += (u16)length;
	if (length < shape.length)
		out_text->is_cut = 1;
	return 0;
}

/* Whether the String equals these characters, at most 24. */
static inline int ruby_text_is(struct mem *mem, const struct ruby_layout *layout, u64 text,
			       const char *characters)
{
	struct ruby_shape shape;
	char bytes[24];
	u32 i;

	if (ruby_text_shape(mem, layout, text, &shape) < 0 || shape.length > sizeof bytes ||
	    shape.length == 0 || mem_read(mem, bytes, (u32)shape.length, shape.data) < 0)
		return 0;
	for (i = 0; i < sizeof bytes && i < shape.length; i++) {
		if (characters[i] == 0 || bytes[i] != characters[i])
			return 0;
	}
	return characters[i] == 0;
}

/*
 * Mixes a String into a hash: its length, its beginning and its end (paths begin alike); or its
 * address alone, if it cannot be read.
 */
static inline u64 ruby_mix_text(struct mem *mem, const struct ruby_layout *layout, u64 hash,
				u64 text)
{
	struct ruby_shape shape;
	u64 word, at;

	hash = code_mix(hash, text);
	if (ruby_text_shape(mem, layout, text, &shape) < 0 || shape.length == 0)
		return hash;
	hash = code_mix(hash, shape.length);
	for (u64 i = 0; i < 2 * RUBY_KEY_WORDS && i * sizeof word < shape.length; i++) {
		u32 left;

		at = i * sizeof word;
		if (i >= RUBY_KEY_WORDS && shape.length > 2 * RUBY_KEY_WORDS * sizeof word)
			at = shape.length - (2 * RUBY_KEY_WORDS - i) * sizeof word;
		left = shape.length - at < sizeof word ? (u32)(shape.length - at) : sizeof word;
		word = 0;
		if (mem_read(mem, &word, left, shape.data + at) < 0)
			break;
		hash = code_mix(hash, word);
	}
	return hash;
}
