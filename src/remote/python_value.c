#include "remote/python_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "remote/memory.h"
#include "remote/python_printer.h"
#include "walk/python_builtin.h"
#include "walk/python_text.h"
#include "walk/python_thread.h"

#define MOST_LEVELS   3
#define MOST_ELEMENTS 8U
#define MOST_SLOTS    256U /* of a hash table, searched at most */
#define MOST_TEXT     240U /* bytes; no more elements after that */
#define MOST_NAME     100

/* PyTypeObject.tp_flags, and its flags for subclasses of built-in types (object.h). */
#define TYPE_FLAGS 168U
#define IS_INT     (1ULL << 24)
#define IS_LIST    (1ULL << 25)
#define IS_TUPLE   (1ULL << 26)
#define IS_BYTES   (1ULL << 27)
#define IS_TEXT    (1ULL << 28)
#define IS_DICT    (1ULL << 29)
#define IS_TYPE    (1ULL << 31)

/* From 3.14 on a tuple has its hash before its items. */
#define HASHED_TUPLES PYTHON_VERSION_OF(3, 14)
/* From 3.11 on a dictionary's keys have a kind. */
#define KINDS_OF_KEYS PYTHON_VERSION_OF(3, 11)

static void add_value(struct python_printer *p, uint64_t object, int level);

static bool is_full(const struct python_printer *p)
{
	return p->out->len - p->begin > MOST_TEXT;
}

static bool read_type_name(const struct python_printer *p, uint64_t type, char name[MOST_NAME])
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

static void add_other(struct python_printer *p, uint64_t object, const char *name)
{
	text_add(p->out, "<");
	text_add_printable(p->out, name, strlen(name));
	text_addf(p->out, " at 0x%" PRIx64 ">", object);
}

static void add_class(struct python_printer *p, uint64_t object)
{
	char name[MOST_NAME];

	if (!read_type_name(p, object, name)) {
		python_printer_unreadable(p, object);
		return;
	}
	text_add(p->out, "<class ");
	text_add_printable(p->out, name, strlen(name));
	text_add(p->out, ">");
}

/* An array of references. */
static void add_array(struct python_printer *p, uint64_t items, uint64_t count, int level)
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

static void add_list(struct python_printer *p, uint64_t object, int level)
{
	uint64_t count, items;

	if (!python_printer_read(p, object, PYTHON_VALUE_SIZE, &count) ||
	    !python_printer_read(p, object, PYTHON_VALUE_ITEMS, &items)) {
		python_printer_unreadable(p, object);
		return;
	}
	text_add(p->out, "[");
	add_array(p, items, count, level);
	text_add(p->out, "]");
}

static void add_tuple(struct python_printer *p, uint64_t object, int level)
{
	const uint64_t items = p->layout->version >= HASHED_TUPLES ? PYTHON_VALUE_ITEMS + 8
								   : PYTHON_VALUE_ITEMS;
	uint64_t count;

	if (!python_printer_read(p, object, PYTHON_VALUE_SIZE, &count)) {
		python_printer_unreadable(p, object);
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

static bool read_old_entries(const struct python_printer *p, uint64_t keys, struct entries *out)
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

static bool read_entries(const struct python_printer *p, uint64_t keys, struct entries *out)
{
	uint8_t head[3]; /* log2 of the size, log2 of the indices' bytes, and the kind */

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

static void add_entries(struct python_printer *p, const struct entries *entries, int level)
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

static void add_dict(struct python_printer *p, uint64_t object, int level)
{
	struct entries entries;
	uint64_t keys, values, used;

	if (!python_printer_read(p, object, PYTHON_VALUE_SIZE, &used) ||
	    !python_printer_read(p, object, 32, &keys) ||
	    !python_printer_read(p, object, 40, &values)) {
		python_printer_unreadable(p, object);
		return;
	}
	/* An instance's attributes: the keys are shared with its class, and are not read. */
	if (values != 0) {
		text_addf(p->out, "{… %" PRIu64 " items}", used);
		return;
	}
	text_add(p->out, "{");
	if (used > 0 && read_entries(p, keys, &entries))
		add_entries(p, &entries, level);
	text_add(p->out, "}");
}

static void add_set(struct python_printer *p, uint64_t object, int level)
{
	uint64_t mask, table, entry[2];
	unsigned int shown = 0;

	if (!python_printer_read(p, object, 32, &mask) ||
	    !python_printer_read(p, object, 40, &table)) {
		python_printer_unreadable(p, object);
		return;
	}
	text_add(p->out, "{");
	for (uint64_t i = 0; i <= mask && i < MOST_SLOTS; i++) {
		/* A key and its hash, which is -1 where a key was removed. */
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

/* Values that contain others. */
static bool add_container(struct python_printer *p, uint64_t object, uint64_t flags,
			  const char *name, int level)
{
	static void (*const adders[])(struct python_printer *, uint64_t,
				      int) = { add_list, add_tuple, add_dict, add_set };
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

static void add_value(struct python_printer *p, uint64_t object, int level)
{
	uint64_t type, flags, value;
	char name[MOST_NAME];

	object = python_slot_object(object);
	if (object == 0 ||
	    mem_read(p->mem, &type, sizeof type, object + p->layout->offsets.object_type) < 0 ||
	    mem_read(p->mem, &flags, sizeof flags, type + p->more + TYPE_FLAGS) < 0 ||
	    !read_type_name(p, type, name)) {
		python_printer_unreadable(p, object);
	} else if (object == p->layout->none || strcmp(name, "NoneType") == 0) {
		text_add(p->out, "None");
	} else if (strcmp(name, "bool") == 0) {
		/* A bool is an int of one digit, or of none. */
		value = 0;
		mem_read(p->mem, &value, 4, object + p->more + PYTHON_VALUE_ITEMS);
		text_add(p->out, value != 0 ? "True" : "False");
	} else if (flags & IS_INT) {
		python_printer_int(p, object);
	} else if (strcmp(name, "float") == 0) {
		python_printer_float(p, object);
	} else if (flags & IS_TEXT) {
		python_printer_text(p, object);
	} else if (flags & IS_BYTES) {
		python_printer_bytes(p, object);
	} else if (flags & IS_TYPE) {
		add_class(p, object);
	} else if (!add_container(p, object, flags, name, level)) {
		add_other(p, object, name);
	}
}

void python_value_add(struct mem *mem, const struct python_layout *layout, uint64_t object,
		      struct text *out)
{
	struct python_printer printer = { .mem = mem,
					  .layout = layout,
					  .out = out,
					  .begin = out->len,
					  .more = python_head_more(layout) };

	add_value(&printer, object, 0);
}
