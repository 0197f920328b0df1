/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * only - matches functions against the patterns of `fathom trace --only`: by name and by file.
 *
 * The same rule is used by the agent, which need not follow unwanted functions, and by the reader
 * of a recording.  A pattern matches
 *
 *	a name	whole, or the part behind a '.', '#' or ':' in it: Worker.run, run;
 *	a file	whole, or the part behind a '/' in it, if the pattern has a '/'; else its last part;
 *	both	for Python: the file as a module, and the name: json.decoder.JSONDecoder.decode.
 * In a pattern * stands for any text, also across separators, ? for one byte, [abc] and [a-z]
 * for one of these and [!abc] for another one.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

/* Size of all patterns: NUL-terminated, one after the other, and an empty one at the end. */
#define ONLY_BYTES 4096U
/* Longer module and function names are cut to this length. */
#define ONLY_DOTTED_MAX 2048U

struct only_text {
	const char *bytes;
	u64 length;
};

struct only_callee {
	struct only_text name; /* qualified, if known */
	struct only_text file; /* empty: no file */
	bool is_python;
};

/* *out_has: whether a byte is in the set behind '['.  Returns the set's length, or 0: not a set. */
static inline u64 only_set(const char *set, char byte, bool *out_has)
{
	const bool is_not = set[0] == '!' || set[0] == '^';
	u64 i = is_not;
	bool has = false;

	for (; set[i] != '\0' && (set[i] != ']' || i == is_not); i++) {
		if (set[i + 1] == '-' && set[i + 2] != '\0' && set[i + 2] != ']') {
			has = has || (byte >= set[i] && byte <= set[i + 2]);
			i += 2;
		} else {
			has = has || byte == set[i];
		}
	}
	*out_has = has != is_not;
	return set[i] == ']' ? i + 1 : 0;
}

/* Matches one element of a pattern, no '*', with a byte: the element's length, or 0. */
static inline u64 only_one(const char *pattern, char byte)
{
	bool has = false;
	u64 length = 0;

	if (*pattern == '?')
		return 1;
	if (*pattern == '[')
		length = only_set(pattern + 1, byte, &has);
	if (length != 0)
		return has ? length + 1 : 0;
	return *pattern != '\0' && *pattern == byte;
}

/*
 * Matches the whole text.  On a mismatch the last '*' takes one byte more; earlier ones need not
 * be reconsidered.
 */
static inline bool only_glob(const char *pattern, struct only_text text)
{
	const char *star = 0;
	u64 at = 0, star_at = 0;

	while (at < text.length) {
		const u64 length = *pattern == '*' ? 0 : only_one(pattern, text.bytes[at]);

		if (*pattern == '*') {
			star = ++pattern;
			star_at = at;
		} else if (length != 0) {
			pattern += length;
			at++;
		} else if (star != 0) {
			pattern = star;
			at = ++star_at;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

static inline bool only_has(const char *text, char byte)
{
	while (*text != '\0' && *text != byte)
		text++;
	return *text == byte;
}

/* Matches the whole text, or the part behind one of these separators. */
static inline bool only_tail(const char *pattern, struct only_text text, const char *separators)
{
	if (text.length != 0 && only_glob(pattern, text))
		return true;
	for (u64 i = 1; i < text.length; i++) {
		const struct only_text tail = { text.bytes + i, text.length - i };

		if (text.bytes[i - 1] != '\0' && only_has(separators, text.bytes[i - 1]) &&
		    only_glob(pattern, tail))
			return true;
	}
	return false;
}

static inline struct only_text only_last_part(struct only_text path)
{
	u64 from = path.length;

	while (from > 0 && path.bytes[from - 1] != '/')
		from--;
	return (struct only_text){ path.bytes + from, path.length - from };
}

static inline bool only_ends(struct only_text text, const char *end, u64 length)
{
	for (u64 i = 0; i < length; i++) {
		if (text.length < length || text.bytes[text.length - length + i] != end[i])
			return false;
	}
	return true;
}

/* /usr/lib/python3/json/decoder.py and scan: usr.lib.python3.json.decoder.scan. */
static inline struct only_text only_dotted(const struct only_callee *callee, char *room)
{
	struct only_text file = callee->file;
	u64 length = 0;

	if (!only_ends(file, ".py", 3))
		return (struct only_text){ room, 0 };
	file.length -= 3;
	if (only_ends(file, "/__init__", 9))
		file.length -= 9;
	for (u64 i = 0; i < file.length && length < ONLY_DOTTED_MAX; i++)
		room[length++] = file.bytes[i];
	for (u64 i = 0; i < length; i++)
		room[i] = room[i] == '/' ? '.' : room[i];
	if (length < ONLY_DOTTED_MAX)
		room[length++] = '.';
	for (u64 i = 0; i < callee->name.length && length < ONLY_DOTTED_MAX; i++)
		room[length++] = callee->name.bytes[i];
	return (struct only_text){ room, length };
}

static inline bool only_pattern_matches(const char *pattern, const struct only_callee *callee)
{
	char room[ONLY_DOTTED_MAX];

	if (only_tail(pattern, callee->name, ".#:"))
		return true;
	if (only_has(pattern, '/') ? only_tail(pattern, callee->file, "/")
				   : callee->file.length != 0 &&
					     only_glob(pattern, only_last_part(callee->file)))
		return true;
	return callee->is_python && only_tail(pattern, only_dotted(callee, room), ".");
}

/* Whether any pattern matches; without patterns, everything matches. */
static inline bool only_matches(const char *patterns, const struct only_callee *callee)
{
	if (*patterns == '\0')
		return true;
	while (*patterns != '\0') {
		if (only_pattern_matches(patterns, callee))
			return true;
		while (*patterns != '\0')
			patterns++;
		patterns++;
	}
	return false;
}
