#include "remote/python_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "remote/memory.h"
#include "walk/python_builtin.h"
#include "walk/python_text.h"
#include "walk/python_thread.h"

#define MOST_LEVELS     3
#define MOST_ELEMENTS   8U
#define MOST_SLOTS      256U /* of a hash table, that are looked through */
#define MOST_CHARACTERS 60U
#define MOST_TEXT       240U /* then no more elements */
#define MOST_NAME       100

/* PyTypeObject.tp_flags, and what is derived from built-in types (object.h). */
#define TYPE_FLAGS 168U
#define IS_INT     (1ULL << 24)
#define IS_LIST    (1ULL << 25)
#define IS_TUPLE   (1ULL << 26)
#define IS_BYTES   (1ULL << 27)
#define IS_TEXT    (1ULL << 28)
#define IS_DICT    (1ULL << 29)

#define VERSION(major, minor) ((uint32_t)(major) << 24 | (uint32_t)(minor) << 16)
/* From here on an int's size and sign stand in lv_tag; a tuple has its hash before its items. */
#define TAGGED_INTS   VERSION(3, 12)
#define HASHED_TUPLES VERSION(3, 14)
/* Keys of a dictionary have a kind. */
#define KINDS_OF_KEYS VERSION(3, 11)

/* Of an object, behind its head of two words; free-threaded builds have two more. */
#define SIZE  16U
#define ITEMS 24U

struct printer {
	struct mem *mem;
	const struct python_layout *layout;
	struct text *out;
	size_t begin;  /* where the value begins in out */
	uint64_t more; /* bytes that an object's head is larger */
};

static void add_value(struct printer *p, uint64_t object, int level);

static bool read_word(const struct printer *p, uint64_t object, uint64_t field,
		      uint64_t *out_word)
{
	return mem_read(p->mem, out_word, sizeof *out_word, object + p->more + field) >= 0;
}

static bool is_full(const struct printer *p)
{
	return p->out->len - p->begin > MOST_TEXT;
}

static void add_unreadable(struct printer *p, uint64_t object)
{
	text_addf(p->out, "<unreadable at 0x%" PRIx64 ">", object);
}

static bool read_type_name(const struct printer *p, uint64_t type, char name[MOST_NAME])
{
	uint64_t address;

	memset(name, 0, MOST_NAME);
	if (mem_read(p->mem, &address, sizeof address, type + p->layout->offsets.type_name) < 0)
		return false;
	for (size_t i = 0; i < MOST_NAME - 1; i++) {
		if (mem_read(p->mem, &name[i], 1, address + i) < 0)
			return false;
		if (name[i] == '\0')
			return i > 0;
	}
	return true;
}

static void add_other(struct printer *p, uint64_t object, const char *name)
{
	text_add(p->out, "<");
	text_add_printable(p->out, name, strlen(name));
	text_addf(p->out, " at 0x%" PRIx64 ">", object);
}

/* Of 30 bits each, at most four of them. */
static void add_int(struct printer *p, uint64_t object)
{
	uint64_t word, count;
	__extension__ unsigned __int128 value = 0;
	char digits[48];
	size_t at = sizeof digits;
	bool is_negative;

	if (!read_word(p, object, SIZE, &word)) {
		add_unreadable(p, object);
		return;
	}
	is_negative = p->layout->version >= TAGGED_INTS ? (word & 3) == 2 : (int64_t)word < 0;
	count = p->layout->version >= TAGGED_INTS ? word >> 3
		: is_negative                     ? (uint64_t) - (int64_t)word
						  : word;
	if (count > 4) {
		text_addf(p->out, "<int of %" PRIu64 " bits at 0x%" PRIx64 ">", count * 30,
			  object);
		return;
	}
	for (uint64_t i = count; i-- > 0;) {
		uint32_t digit;

		if (mem_read(p->mem, &digit, sizeof digit,
			     object + p->more + ITEMS + i * sizeof digit) < 0) {
			add_unreadable(p, object);
			return;
		}
		value = value << 30 | (digit & ((1U << 30) - 1));
	}
	digits[--at] = '\0';
	do {
		digits[--at] = (char)('0' + (int)(value % 10));
		value /= 10;
	} while (value > 0);
	text_addf(p->out, "%s%s", is_negative ? "-" : "", digits + at);
}

/* With as few digits as tell it from all others. */
static void add_float(struct printer *p, uint64_t object)
{
	char digits[32];
	double value;
	int precision = 15;

	if (mem_read(p->mem, &value, sizeof value, object + p->more + SIZE) < 0) {
		add_unreadable(p, object);
		return;
	}
	do {
		snprintf(digits, sizeof digits, "%.*g", precision, value);
	} while (precision++ < 17 && strtod(digits, NULL) != value);
	text_add(p->out, digits);
	if (strspn(digits, "-0123456789") == strlen(digits))
		text_add(p->out, ".0");
}

/* In quotes, with Python's escapes for what would end or break the line. */
static void add_quoted(struct printer *p, const uint8_t *bytes, size_t len, bool is_cut)
{
	text_add(p->out, "'");
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == '\'' || bytes[i] == '\\')
			text_addf(p->out, "\\%c", bytes[i]);
		else if (bytes[i] == '\n')
			text_add(p->out, "\\n");
		else if (bytes[i] < 0x20 || bytes[i] == 0x7f)
			text_addf(p->out, "\\x%02x", bytes[i]);
		else
			text_add_bytes(p->out, &bytes[i], 1);
	}
	text_add(p->out, is_cut ? "…'" : "'");
}

static void add_text(struct printer *p, uint64_t object)
{
	struct name_text text;
	size_t len;

	if (python_text_read(p->mem, p->layout, object, &text) < 0) {
		add_unreadable(p, object);
		return;
	}
	len = text.length < MOST_CHARACTERS ? text.length : MOST_CHARACTERS;
	/* Not within a character. */
	while (len < text.length && len > 0 && (text.bytes[len] & 0xc0) == 0x80)
		len--;
	add_quoted(p, text.bytes, len, text.is_cut || len < text.length);
}

static void add_bytes(struct printer *p, uint64_t object)
{
	const struct python_offsets *offsets = &p->layout->offsets;
	uint8_t bytes[MOST_CHARACTERS];
	uint64_t len;

	if (mem_read(p->mem, &len, sizeof len, object + offsets->bytes_length) < 0) {
		add_unreadable(p, object);
		return;
	}
	const uint32_t part = len < sizeof bytes ? (uint32_t)len : (uint32_t)sizeof bytes;

	if (mem_read(p->mem, bytes, part, object + offsets->bytes_data) < 0) {
		add_unreadable(p, object);
		return;
	}
	text_add(p->out, "b");
	text_add(p->out, "'");
	for (uint32_t i = 0; i < part; i++) {
		if (bytes[i] < 0x20 || bytes[i] >= 0x7f || bytes[i] == '\'' || bytes[i] == '\\')
			text_addf(p->out, "\\x%02x", bytes[i]);
		else
			text_add_bytes(p->out, &bytes[i], 1);
	}
	text_add(p->out, part < len ? "…'" : "'");
}

/* An array of references. */
static void add_array(struct printer *p, uint64_t items, uint64_t count, int level)
{
	uint64_t item;

	for (uint64_t i = 0; i < count; i++) {
		text_add(p->out, i > 0 ? ", " : "");
		if (i == MOST_ELEMENTS || is_full(p)) {
			text_add(p->out, "…");
			return;
		}
		if (mem_read(p->mem, &item, sizeof item, items + i * sizeof item) < 0) {
			text_add(p->out, "<unreadable>");
			return;
		}
		add_value(p, item, level + 1);
	}
}

static void add_list(struct printer *p, uint64_t object, int level)
{
	uint64_t count, items;

	if (!read_word(p, object, SIZE, &count) || !read_word(p, object, ITEMS, &items)) {
		add_unreadable(p, object);
		return;
	}
	text_add(p->out, "[");
	add_array(p, items, count, level);
	text_add(p->out, "]");
}

static void add_tuple(struct printer *p, uint64_t object, int level)
{
	const uint64_t items = p->layout->version >= HASHED_TUPLES ? ITEMS + 8 : ITEMS;
	uint64_t count;

	if (!read_word(p, object, SIZE, &count)) {
		add_unreadable(p, object);
		return;
	}
	text_add(p->out, "(");
	add_array(p, object + p->more + items, count, level);
	text_add(p->out, count == 1 ? ",)" : ")");
}

/* The entries of a dictionary: PyDictKeysObject. */
struct entries {
	uint64_t at, count, size, key;
};

static bool read_old_entries(const struct printer *p, uint64_t keys, struct entries *out)
{
	uint64_t size;

	if (mem_read(p->mem, &size, sizeof size, keys + 8) < 0 ||
	    mem_read(p->mem, &out->count, sizeof out->count, keys + 32) < 0)
		return false;
	out->at = keys + 40 +
		  size * (size <= 0xff         ? 1
			  : size <= 0xffff     ? 2
			  : size <= 0xffffffff ? 4
					       : 8);
	out->size = 24;
	out->key = 8;
	return true;
}

static bool read_entries(const struct printer *p, uint64_t keys, struct entries *out)
{
	uint8_t head
		[3]; /* the logarithms of the size and of the indices' bytes, and the kind */

	if (p->layout->version < KINDS_OF_KEYS)
		return read_old_entries(p, keys, out);
	if (mem_read(p->mem, head, sizeof head, keys + 8) < 0 || head[1] > 40 ||
	    mem_read(p->mem, &out->count, sizeof out->count, keys + 24) < 0)
		return false;
	out->at = keys + 32 + (1ULL << head[1]);
	out->size = head[2] == 0 ? 24 : 16;
	out->key = head[2] == 0 ? 8 : 0;
	return true;
}

static void add_entries(struct printer *p, const struct entries *entries, int level)
{
	uint64_t pair[2];
	unsigned int shown = 0;

	for (uint64_t i = 0; i < entries->count && i < MOST_SLOTS; i++) {
		if (mem_read(p->mem, pair, sizeof pair,
			     entries->at + i * entries->size + entries->key) < 0)
			return;
		if (pair[0] == 0 || pair[1] == 0)
			continue;
		text_add(p->out, shown > 0 ? ", " : "");
		if (shown++ == MOST_ELEMENTS || is_full(p)) {
			text_add(p->out, "…");
			return;
		}
		add_value(p, pair[0], level + 1);
		text_add(p->out, ": ");
		add_value(p, pair[1], level + 1);
	}
}

static void add_dict(struct printer *p, uint64_t object, int level)
{
	struct entries entries;
	uint64_t keys, values, used;

	if (!read_word(p, object, SIZE, &used) || !read_word(p, object, 32, &keys) ||
	    !read_word(p, object, 40, &values)) {
		add_unreadable(p, object);
		return;
	}
	/* An instance's attributes, whose keys are its class's. */
	if (values != 0) {
		text_addf(p->out, "{… %" PRIu64 " items}", used);
		return;
	}
	text_add(p->out, "{");
	if (used > 0 && read_entries(p, keys, &entries))
		add_entries(p, &entries, level);
	text_add(p->out, "}");
}

static void add_set(struct printer *p, uint64_t object, int level)
{
	uint64_t mask, table, entry[2];
	unsigned int shown = 0;

	if (!read_word(p, object, 32, &mask) || !read_word(p, object, 40, &table)) {
		add_unreadable(p, object);
		return;
	}
	text_add(p->out, "{");
	for (uint64_t i = 0; i <= mask && i < MOST_SLOTS; i++) {
		/* A key and its hash, which is -1 where one was taken out. */
		if (mem_read(p->mem, entry, sizeof entry, table + i * sizeof entry) < 0)
			break;
		if (entry[0] == 0 || entry[1] == UINT64_MAX)
			continue;
		text_add(p->out, shown > 0 ? ", " : "");
		if (shown++ == MOST_ELEMENTS || is_full(p)) {
			text_add(p->out, "…");
			break;
		}
		add_value(p, entry[0], level + 1);
	}
	text_add(p->out, "}");
}

/* What holds others. */
static bool add_container(struct printer *p, uint64_t object, uint64_t flags, const char *name,
			  int level)
{
	static void (*const adders[])(struct printer *, uint64_t, int) = { add_list, add_tuple,
									   add_dict, add_set };
	const bool is_set = strcmp(name, "set") == 0 || strcmp(name, "frozenset") == 0;
	const int kind = flags & IS_LIST    ? 0
			 : flags & IS_TUPLE ? 1
			 : flags & IS_DICT  ? 2
			 : is_set           ? 3
					    : -1;

	if (kind < 0)
		return false;
	if (level >= MOST_LEVELS)
		add_other(p, object, name);
	else
		adders[kind](p, object, level);
	return true;
}

static void add_value(struct printer *p, uint64_t object, int level)
{
	uint64_t type, flags, value;
	char name[MOST_NAME];

	object = python_slot_object(object);
	if (object == 0 ||
	    mem_read(p->mem, &type, sizeof type, object + p->layout->offsets.object_type) < 0 ||
	    mem_read(p->mem, &flags, sizeof flags, type + p->more + TYPE_FLAGS) < 0 ||
	    !read_type_name(p, type, name)) {
		add_unreadable(p, object);
	} else if (object == p->layout->none || strcmp(name, "NoneType") == 0) {
		text_add(p->out, "None");
	} else if (strcmp(name, "bool") == 0) {
		/* An int of one digit, or of none. */
		value = 0;
		mem_read(p->mem, &value, 4, object + p->more + ITEMS);
		text_add(p->out, value != 0 ? "True" : "False");
	} else if (flags & IS_INT) {
		add_int(p, object);
	} else if (strcmp(name, "float") == 0) {
		add_float(p, object);
	} else if (flags & IS_TEXT) {
		add_text(p, object);
	} else if (flags & IS_BYTES) {
		add_bytes(p, object);
	} else if (!add_container(p, object, flags, name, level)) {
		add_other(p, object, name);
	}
}

void python_value_add(struct mem *mem, const struct python_layout *layout, uint64_t object,
		      struct text *out)
{
	struct printer printer = { .mem = mem,
				   .layout = layout,
				   .out = out,
				   .begin = out->len,
				   .more = python_head_more(layout) };

	add_value(&printer, object, 0);
}
