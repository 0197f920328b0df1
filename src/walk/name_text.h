/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * name_text - builds a name in UTF-8 from texts read from an interpreter's memory.
 */
#pragma once
#include "mem.h"

#define NAME_TEXT_MAX 1000

struct name_text {
	u16 length;
	u8 is_cut; /* the text was longer, or could not be read to its end */
	u8 bytes[NAME_TEXT_MAX];
};

/* Appends one byte, for which there must be room. */
static inline void name_text_put(struct name_text *text, u32 byte)
{
	text->bytes[text->length++] = (u8)byte;
}

/* Appends a string of our own. */
static inline void name_text_add(struct name_text *text, const char *characters)
{
	for (u32 i = 0; i < 32 && characters[i] != 0; i++) {
		if (text->length >= NAME_TEXT_MAX) {
			text->is_cut = 1;
			return;
		}
		name_text_put(text, (u8)characters[i]);
	}
}

/* Whether the text equals this string. */
static inline int name_text_is(const struct name_text *text, const char *string)
{
	u32 i = 0;

	while (i < text->length && string[i] != '\0' && text->bytes[i] == (u8)string[i])
		i++;
	return i == text->length && string[i] == '\0';
}

/*
 * How many bytes a character takes; U+DC80 to U+DCFF stand for bytes; other lone surrogates
 * become U+FFFD.
 */
static inline u32 name_character_size(u32 character)
{
	if (character < 0x80 || (character >= 0xdc80 && character <= 0xdcff))
		return 1;
	if (character < 0x800)
		return 2;
	return character < 0x10000 ? 3 : 4;
}

static inline void name_text_append(struct name_text *text, u32 character)
{
	const u32 size = name_character_size(character);

	if (text->length + size > NAME_TEXT_MAX) {
		text->is_cut = 1;
		return;
	}
	if (character >= 0xd800 && character <= 0xdfff && size != 1)
		character = 0xfffd;
	switch (size) {
	case 1:
		name_text_put(text, character);
		return;
	case 2:
		name_text_put(text, 0xc0 | character >> 6);
		break;
	case 3:
		name_text_put(text, 0xe0 | character >> 12);
		name_text_put(text, 0x80 | (character >> 6 & 0x3f));
		break;
	default:
		name_text_put(text, 0xf0 | (character >> 18 & 7));
		name_text_put(text, 0x80 | (character >> 12 & 0x3f));
		name_text_put(text, 0x80 | (character >> 6 & 0x3f));
		break;
	}
	name_text_put(text, 0x80 | (character & 0x3f));
}

/* Appends a C string from the target's memory, as far as it can be read and there is room. */
static inline void name_text_append_string(struct mem *mem, u64 string, struct name_text *text)
{
	for (u32 i = 0; i < NAME_TEXT_MAX; i++) {
		u8 byte;

		if (mem_read(mem, &byte, sizeof byte, string + i) < 0 || byte == 0)
			return;
		if (text->length == NAME_TEXT_MAX) {
			text->is_cut = 1;
			return;
		}
		name_text_put(text, byte);
	}
}
