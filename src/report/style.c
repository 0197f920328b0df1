#include "report/style.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/utf8.h"
#include "profile/short_name.h"

enum { WRAP_WITHOUT_TERMINAL = 100, WRAP_LEAST = 40, SENTENCE_NAME = 60 };

enum tint style_tint_of(double percent)
{
	if (percent >= 10)
		return TINT_HOT;
	if (percent >= 1)
		return TINT_WARM;
	return percent >= 0.05 ? TINT_NONE : TINT_DIM;
}

void style_add(struct text *out, const struct style *style, enum tint tint, const char *string)
{
	static const char *const escapes[TINT_COUNT] = {
		[TINT_BOLD] = "\x1b[1m",
		[TINT_DIM] = "\x1b[2m",
		[TINT_HOT] = "\x1b[1;31m",
		[TINT_WARM] = "\x1b[33m",
	};

	if (!style->has_color || tint == TINT_NONE || string[0] == '\0') {
		text_add(out, string);
		return;
	}
	text_addf(out, "%s%s\x1b[0m", escapes[tint], string);
}

unsigned int style_wrap_width(const struct style *style)
{
	if (style->width == 0)
		return WRAP_WITHOUT_TERMINAL;
	return style->width < WRAP_LEAST ? WRAP_LEAST : style->width;
}

/* The length of the character that begins there. */
static size_t character_at(const char *bytes, size_t len)
{
	size_t taken = utf8_decode(bytes, len, NULL);

	return taken ? taken : 1;
}

static size_t columns_of(const char *bytes, size_t len)
{
	CLEANUP(freep) char *copy = xstrndup(bytes, len);

	return text_columns(copy);
}

static size_t unit_length(const char *word)
{
	static const char *const units[] = { "%", "s", "ms", "µs", "ns", "Hz" };

	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		size_t len = strlen(units[i]);
		if (strncmp(word, units[i], len) == 0 && strchr(" ,.;:)", word[len]))
			return strcspn(word, " ");
	}
	return 0;
}

/* The length of a short quoted command: 'fathom info'. */
static size_t quoted_length(const char *word)
{
	enum { LENGTH_MAX = 30 };
	const char *end = *word == '\'' ? strchr(word + 1, '\'') : NULL;

	return end && end - word < LENGTH_MAX ? (size_t)(end - word) : 0;
}

/* The length of the next word; a number and its unit count as one. */
static size_t word_length(const char *word)
{
	const size_t quoted = quoted_length(word);
	size_t len = quoted + strcspn(word + quoted, " ");

	if (len > 0 && word[len] && word[len - 1] >= '0' && word[len - 1] <= '9') {
		size_t unit = unit_length(word + len + 1);
		len += unit ? 1 + unit : 0;
	}
	return len;
}

/*
 * Adds a word, which continues on the next line if it is longer than one, as a path may be;
 * returns the column reached.
 */
static size_t add_word(struct text *out, const char *word, size_t len, size_t at, size_t width,
		       unsigned int indent)
{
	for (size_t taken; len > 0; word += taken, len -= taken) {
		taken = character_at(word, len);
		const size_t columns = columns_of(word, taken);

		if (at + columns > width && at > indent) {
			text_addf(out, "\n%*s", (int)indent, "");
			at = indent;
		}
		text_add_bytes(out, word, taken);
		at += columns;
	}
	return at;
}

void style_add_wrapped(struct text *out, const struct style *style, unsigned int indent,
		       const char *sentence)
{
	size_t width = style_wrap_width(style);
	size_t at = indent;

	for (const char *word = sentence; *word;) {
		size_t len = word_length(word);
		size_t columns = columns_of(word, len);
		if (at > indent && at + 1 + columns > width) {
			text_addf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (word > sentence) {
			text_add(out, " ");
			at++;
		}
		at = add_word(out, word, len, at, width, indent);
		word += len;
		word += *word == ' ';
	}
}

static size_t character_before(const char *bytes, size_t end)
{
	for (size_t len = 1; len <= 4 && len <= end; len++) {
		if (utf8_decode(bytes + end - len, len, NULL) == len)
			return len;
	}
	return 1;
}

void style_add_cut_name(struct text *out, const char *name, size_t columns)
{
	struct text shorter = { 0 };

	short_name_add(&shorter, name, columns);
	style_add_cut(out, text_string(&shorter), columns);
	text_done(&shorter);
}

void style_add_function(struct text *out, const struct style *style, const char *name)
{
	CLEANUP(text_done) struct text shorter = { 0 };

	if (style->width > 0)
		short_name_add(&shorter, name, SENTENCE_NAME);
	else
		text_add(&shorter, name);
	text_add_printable(out, text_string(&shorter), shorter.len);
}

void style_add_cut_end(struct text *out, const char *string, size_t columns)
{
	const size_t len = strlen(string);
	size_t head = 0;

	if (text_columns(string) <= columns) {
		text_add(out, string);
		return;
	}
	for (size_t used = 0; head < len;) {
		const size_t next = character_at(string + head, len - head);

		used += columns_of(string + head, next);
		if (used + 1 > columns)
			break;
		head += next;
	}
	text_add_bytes(out, string, head);
	text_add(out, "…");
}

void style_add_cut(struct text *out, const char *string, size_t columns)
{
	size_t len = strlen(string);

	if (text_columns(string) <= columns || columns < 2) {
		text_add(out, string);
		return;
	}
	/*
	 * One column is for the ellipsis; the end of a name is more informative than its
	 * beginning.
	 */
	size_t head_columns = (columns - 1) / 2;
	size_t tail_columns = columns - 1 - head_columns;
	size_t head = 0;
	size_t tail = len;
	for (size_t used = 0; head < len;) {
		size_t next = character_at(string + head, len - head);
		used += columns_of(string + head, next);
		if (used > head_columns)
			break;
		head += next;
	}
	for (size_t used = 0; tail > head;) {
		size_t previous = character_before(string, tail);
		used += columns_of(string + tail - previous, previous);
		if (used > tail_columns)
			break;
		tail -= previous;
	}
	text_add_bytes(out, string, head);
	text_add(out, "…");
	text_add(out, string + tail);
}

/* The " [json, mostly _json]" of a label, or NULL. */
static const char *bracket_of(const char *label)
{
	const size_t len = strlen(label);

	if (len == 0 || label[len - 1] != ']')
		return NULL;
	for (const char *at = label + len - 1; at > label; at--) {
		if (*at == '[')
			return at[-1] == ' ' && at - 1 > label ? at - 1 : NULL;
	}
	return NULL;
}

void style_add_cut_label(struct text *out, const char *label, size_t columns)
{
	enum { LEAST_BRACKET = 6 }; /* " [js…" is the shortest that is still useful */
	const char *bracket = bracket_of(label);

	if (!bracket || text_columns(label) <= columns) {
		style_add_cut(out, label, columns);
		return;
	}
	CLEANUP(freep) char *name = xstrndup(label, (size_t)(bracket - label));
	const size_t taken = text_columns(name);

	style_add_cut(out, name, columns);
	if (taken + LEAST_BRACKET <= columns)
		style_add_cut_end(out, bracket, columns - taken);
}
