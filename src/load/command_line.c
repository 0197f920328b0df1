#include "load/command_line.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/profile.h"

struct cursor {
	const char *at;
};

static void skip_space(struct cursor *cursor)
{
	cursor->at += strspn(cursor->at, " \t\r\n");
}

static bool take(struct cursor *cursor, char c)
{
	skip_space(cursor);
	if (*cursor->at != c)
		return false;
	cursor->at++;
	return true;
}

/* The value of four hexadecimal digits at text, or -1. */
static int hex4(const char *text)
{
	int value = 0;

	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdef";
		char lower = (char)(text[i] | 0x20);
		const char *digit = text[i] ? strchr(digits, lower) : NULL;

		if (!digit)
			return -1;
		value = value * 16 + (int)(digit - digits);
	}
	return value;
}

static void add_character(struct text *text, unsigned int c)
{
	char bytes[4];
	size_t len = 0;

	if (c < 0x80) {
		bytes[len++] = (char)c;
	} else if (c < 0x800) {
		bytes[len++] = (char)(0xc0 | c >> 6);
		bytes[len++] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		bytes[len++] = (char)(0xe0 | c >> 12);
		bytes[len++] = (char)(0x80 | (c >> 6 & 0x3f));
		bytes[len++] = (char)(0x80 | (c & 0x3f));
	} else {
		bytes[len++] = (char)(0xf0 | c >> 18);
		bytes[len++] = (char)(0x80 | (c >> 12 & 0x3f));
		bytes[len++] = (char)(0x80 | (c >> 6 & 0x3f));
		bytes[len++] = (char)(0x80 | (c & 0x3f));
	}
	text_add_bytes(text, bytes, len);
}

/* The digits after "\u", and those of a second surrogate if there is one. */
static bool parse_unicode(struct cursor *cursor, struct text *text)
{
	int c = hex4(cursor->at);

	if (c < 0)
		return false;
	if (c >= 0xd800 && c < 0xdc00 && cursor->at[4] == '\\' && cursor->at[5] == 'u') {
		int low = hex4(cursor->at + 6);

		if (low >= 0xdc00 && low < 0xe000) {
			add_character(text, 0x10000U + (((unsigned int)c & 0x3ff) << 10) +
						    ((unsigned int)low & 0x3ff));
			cursor->at += 10;
			return true;
		}
	}
	if (c == 0 || (c >= 0xd800 && c < 0xe000))
		text_addf(text, "\\u%04x", (unsigned int)c);
	else
		add_character(text, (unsigned int)c);
	cursor->at += 4;
	return true;
}

static bool parse_escape(struct cursor *cursor, struct text *text)
{
	static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	char letter = *cursor->at;

	if (letter == '\0')
		return false;
	cursor->at++;
	if (letter == 'u')
		return parse_unicode(cursor, text);
	const char *known = strchr(letters, letter);

	if (!known)
		return false;
	text_add_bytes(text, &values[known - letters], 1);
	return true;
}

/* The rest of a string whose opening quote was taken. */
static bool parse_string(struct cursor *cursor, struct text *text)
{
	for (;;) {
		size_t plain = strcspn(cursor->at, "\"\\");

		text_add_bytes(text, cursor->at, plain);
		cursor->at += plain;
		if (*cursor->at == '\0')
			return false;
		if (*cursor->at++ == '"')
			return true;
		if (!parse_escape(cursor, text))
			return false;
	}
}

/* Calls add for each string; false if json is no array of strings. */
static bool parse_array(const char *json, void (*add)(void *context, const char *string),
			void *context)
{
	struct cursor cursor = { json };
	struct text text = { 0 };
	bool is_array = take(&cursor, '[') && !take(&cursor, ']');

	while (is_array) {
		text_clear(&text);
		is_array = take(&cursor, '"') && parse_string(&cursor, &text);
		if (!is_array)
			break;
		add(context, text_string(&text));
		if (take(&cursor, ']'))
			break;
		is_array = take(&cursor, ',');
	}
	text_done(&text);
	return is_array;
}

struct strings {
	struct profile *profile;
	const char **list; /* NULL while counting */
	size_t count;
};

static void add_string(void *context, const char *string)
{
	struct strings *strings = context;

	if (strings->list)
		strings->list[strings->count] = profile_copy_string(strings->profile, string);
	strings->count++;
}

size_t command_line_parse(const char *json, struct profile *profile,
			  const char *const **out_command)
{
	struct strings strings = { .profile = profile };

	*out_command = NULL;
	if (!json || !parse_array(json, add_string, &strings))
		return 0;
	strings.list = profile_alloc(profile, (strings.count + 1) * sizeof *strings.list);
	strings.count = 0;
	parse_array(json, add_string, &strings);
	*out_command = strings.list;
	return strings.count;
}
