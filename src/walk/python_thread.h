/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * python_thread - reads a Python program's name for a thread.
 *
 * From 3.14 on CPython sets the kernel's thread name itself.  Before, the name is the attribute
 * _name of a threading.Thread, and that object is the first local variable of the thread's
 * outermost frame, Thread._bootstrap().  Where an object has its attributes differs
 * (abi/python_layout.h, enum python_attributes):
 *
 *   2.7          in a dictionary, one open table of {hash, key, value}.
 *   3.6 to 3.10  in a dictionary; if that shares its keys with others of its class, its values
 *   are in
 *                a separate array, in the order of the keys (PEP 412).
 *   3.11         in such an array, to which a word before the object points, until code requests
 *   the
 *                dictionary, to which the next word then points.
 *   3.12         the same, but one word for both: its lowest bit is set for the array.
 *   3.13         the array is in the object, and has a flag that says whether it is valid.
 *
 * The thread may be changing any of this: if parts do not fit together, there is no name.
 * Sources: Objects/dictobject.c, Include/internal/pycore_dict.h and pycore_object.h
 * (_PyObject_ManagedDictPointer, _PyObject_InlineValues) of each version.
 */
#pragma once
#include "python_text.h"
#include "python_walk.h"

/*
 * PyTypeObject.tp_basicsize and tp_dictoffset; PyDictObject: unchanged since 3.6.  In
 * free-threaded builds an object begins with two more words (python_head_more()), and the
 * dictionary's word is right before the object.
 */
#define PYTHON_TYPE_BASIC_SIZE  32
#define PYTHON_TYPE_DICT_OFFSET 288
#define PYTHON_DICT_KEYS        32
#define PYTHON_DICT_VALUES      40
/* 2.7 has ma_mask in the place of ma_keys, and ma_table in that of ma_values. */
#define PYTHON_DICT_MASK  32
#define PYTHON_DICT_TABLE 40
/* Distances of the words before an object with such attributes. */
#define PYTHON_DICT_BEFORE   24ULL
#define PYTHON_VALUES_BEFORE 32ULL
/* struct _dictvalues of 3.13: four bytes, the last of which is `valid`, then the values. */
#define PYTHON_VALUES_VALID 3
#define PYTHON_VALUES_BEGIN 8

/* A Thread has some fifteen attributes; a subclass may have more. */
#define PYTHON_ATTRIBUTES_MAX 64

/* Where the attributes of one object are. */
struct python_attribute_table {
	u64 keys;   /* a PyDictKeysObject; 2.7: the dictionary */
	u64 values; /* an array of references; 0: values are next to their keys */
};

/* The layout of a PyDictKeysObject in this version. */
struct python_keys {
	u64 entries;
	u64 count;
	u32 entry_size;
	u32 key; /* the key's offset in an entry; a value in the entry follows it */
};

static inline u64 python_word_at(struct mem *mem, u64 address)
{
	u64 word;

	return mem_read(mem, &word, sizeof word, address) < 0 ? 0 : word;
}

static inline u64 python_head_more(const struct python_layout *layout)
{
	return layout->is_free_threaded ? 2 * sizeof(u64) : 0;
}

static inline u64 python_dict_before(struct mem *mem, const struct python_layout *layout,
				     u64 object)
{
	return python_word_at(
		mem, object - (layout->is_free_threaded ? sizeof(u64) : PYTHON_DICT_BEFORE));
}

static inline void python_table_of_dict(struct mem *mem, const struct python_layout *layout,
					u64 dict, struct python_attribute_table *out_table)
{
	const u64 more = python_head_more(layout);

	if (dict == 0)
		return;
	out_table->keys = python_word_at(mem, dict + more + PYTHON_DICT_KEYS);
	out_table->values = python_word_at(mem, dict + more + PYTHON_DICT_VALUES);
}

/* 3.13: the values in the object itself; 0 when the object has a dictionary instead. */
static inline u64 python_values_inline(struct mem *mem, const struct python_layout *layout,
				       u64 object, u64 type)
{
	const u64 values = object + python_word_at(mem, type + python_head_more(layout) +
								PYTHON_TYPE_BASIC_SIZE);
	u8 is_valid = 0;

	if (mem_read(mem, &is_valid, sizeof is_valid, values + PYTHON_VALUES_VALID) < 0)
		return 0;
	return is_valid ? values + PYTHON_VALUES_BEGIN : 0;
}

/* keys is 0 if there is no such table. */
static inline struct python_attribute_table
python_attribute_table_of(struct mem *mem, const struct python_layout *layout, u64 object,
			  u64 type)
{
	struct python_attribute_table table = { 0 };
	u64 dict = 0, values = 0;

	switch (layout->attributes) {
	case PYTHON_ATTRIBUTES_TABLE:
		table.keys = python_word_at(
			mem, object + python_word_at(mem, type + PYTHON_TYPE_DICT_OFFSET));
		return table;
	case PYTHON_ATTRIBUTES_DICT:
		dict = python_word_at(
			mem, object + python_word_at(mem, type + PYTHON_TYPE_DICT_OFFSET));
		break;
	case PYTHON_ATTRIBUTES_BEFORE:
		values = python_word_at(mem, object - PYTHON_VALUES_BEFORE);
		dict = python_dict_before(mem, layout, object);
		break;
	case PYTHON_ATTRIBUTES_TAGGED:
		dict = python_dict_before(mem, layout, object);
		if (dict & 1)
			values = dict + 1; /* _PyDictOrValues_SetValues() */
		break;
	case PYTHON_ATTRIBUTES_INLINE:
		values = python_values_inline(mem, layout, object, type);
		dict = python_dict_before(mem, layout, object);
		break;
	default:
		return table;
	}
	if (values == 0) {
		python_table_of_dict(mem, layout, dict, &table);
		return table;
	}
	table.keys = python_word_at(mem, type + layout->offsets.type_keys);
	table.values = values;
	return table;
}

/* The bytes of one index, for a dk_size of 3.6 to 3.10; from 3.11 on the object has the size. */
static inline u32 python_index_size(u64 size)
{
	if (size <= 0xff)
		return 1;
	if (size <= 0xffff)
		return 2;
	return size <= 0xffffffff ? 4 : 8;
}

static inline int python_keys_read_old(struct mem *mem, u64 keys, struct python_keys *out_keys)
{
	const u64 size = python_word_at(mem, keys + 8);

	if (size == 0 || size > 1U << 20)
		return -1;
	/* dk_refcnt, dk_size, dk_lookup, dk_usable, dk_nentries, dk_indices */
	out_keys->count = python_word_at(mem, keys + 32);
	out_keys->entries = keys + 40 + size * python_index_size(size);
	out_keys->entry_size = 24;
	out_keys->key = 8;
	return 0;
}

static inline int python_keys_read_new(struct mem *mem, u64 keys, struct python_keys *out_keys)
{
	struct {
		u8 log2_size, log2_index_bytes, kind, padding;
	} head;

	/* dk_refcnt, those three, dk_version, dk_usable, dk_nentries, dk_indices */
	if (mem_read(mem, &head, sizeof head, keys + 8) < 0 || head.log2_index_bytes > 24)
		return -1;
	out_keys->count = python_word_at(mem, keys + 24);
	out_keys->entries = keys + 32 + (1ULL << head.log2_index_bytes);
	/* If all keys are str, entries have no hash; DICT_KEYS_GENERAL is 0. */
	out_keys->entry_size = head.kind == 0 ? 24 : 16;
	out_keys->key = head.kind == 0 ? 8 : 0;
	return 0;
}

/* 2.7: reads the dictionary itself. */
static inline int python_keys_read_table(struct mem *mem, u64 dict,
					 struct python_keys *out_keys)
{
	out_keys->count = python_word_at(mem, dict + PYTHON_DICT_MASK) + 1;
	out_keys->entries = python_word_at(mem, dict + PYTHON_DICT_TABLE);
	out_keys->entry_size = 24;
	out_keys->key = 8;
	return out_keys->entries != 0 ? 0 : -1;
}

static inline int python_keys_read(struct mem *mem, const struct python_layout *layout,
				   u64 keys, struct python_keys *out_keys)
{
	if (layout->attributes == PYTHON_ATTRIBUTES_TABLE)
		return python_keys_read_table(mem, keys, out_keys);
	if (layout->attributes == PYTHON_ATTRIBUTES_DICT)
		return python_keys_read_old(mem, keys, out_keys);
	return python_keys_read_new(mem, keys, out_keys);
}

/* Whether the text equals these characters, all ASCII and fewer than 32. */
static inline int python_text_is(struct mem *mem, const struct python_layout *layout, u64 text,
				 const char *characters)
{
	struct python_shape shape;
	char byte;
	u32 i;

	if (text == 0 || python_text_shape(mem, layout, text, &shape) < 0 || !shape.is_bytes)
		return 0;
	for (i = 0; i < 32 && i < shape.length && characters[i] != 0; i++) {
		if (mem_read(mem, &byte, 1, shape.data + i) < 0 || byte != characters[i])
			return 0;
	}
	return i == shape.length && characters[i] == 0;
}

/* An object's attribute of this name, or 0. */
static inline u64 python_attribute_of(struct mem *mem, const struct python_layout *layout,
				      u64 object, const char *name)
{
	const u64 type = python_word_at(mem, object + layout->offsets.object_type);
	const struct python_attribute_table table =
		python_attribute_table_of(mem, layout, object, type);
	struct python_keys keys;

	if (table.keys == 0 || python_keys_read(mem, layout, table.keys, &keys) < 0)
		return 0;
	for (u64 i = 0; i < PYTHON_ATTRIBUTES_MAX && i < keys.count; i++) {
		const u64 entry = keys.entries + i * keys.entry_size;

		if (!python_text_is(mem, layout, python_word_at(mem, entry + keys.key), name))
			continue;
		return python_word_at(mem, table.values != 0 ? table.values + i * sizeof(u64)
							     : entry + keys.key + sizeof(u64));
	}
	return 0;
}

/* Reads the name of the thread with this outermost frame; negative: it has none. */
static inline int python_thread_name(struct mem *mem, const struct python_layout *layout,
				     const struct python_frame *outermost,
				     struct name_text *out_name)
{
	const int is_old = layout->attributes == PYTHON_ATTRIBUTES_TABLE;
	const char *function = is_old ? "__bootstrap" : "_bootstrap";
	const char *attribute = is_old ? "_Thread__name" : "_name";
	u64 self, name;

	if (layout->attributes == PYTHON_ATTRIBUTES_UNREAD ||
	    !python_text_is(mem, layout,
			    python_word_at(mem, outermost->code + layout->offsets.code_name),
			    function))
		return -1;
	self = python_word_at(mem, outermost->address + layout->offsets.frame_locals);
	name = self != 0 ? python_attribute_of(mem, layout, self, attribute) : 0;
	if (name == 0 || python_text_read(mem, layout, name, out_name) < 0)
		return -1;
	return out_name->length > 0 ? 0 : -1;
}
