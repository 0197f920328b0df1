/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * python_code - a key that identifies a CPython code object.
 *
 * A code object can be freed and another created at its address, and so can its texts; a program
 * that defines functions in a loop does so all the time.  So the key is computed from the
 * addresses of the object and its texts, and from properties of these: their length, and the
 * interpreter's own hash of them, or their beginning if there is no hash yet.
 */
#pragma once
#include "code_key.h"
#include "python_text.h"

/* Leading words of a text that enter the key. */
#define PYTHON_KEY_WORDS 4

/* Mixes a text into a hash: by its content or, if that cannot be read, its address alone. */
static inline u64 python_mix_text(struct mem *mem, const struct python_layout *layout, u64 hash,
				  u64 text)
{
	struct python_shape shape;
	u64 word;

	hash = code_mix(hash, text);
	if (python_text_shape(mem, layout, text, &shape) < 0 || shape.length == 0)
		return hash;
	hash = code_mix(hash, shape.length << 3 | shape.kind);
	/* The hash covers the whole text: its beginning would add nothing. */
	if (shape.hash != PYTHON_NO_HASH)
		return code_mix(hash, shape.hash);
	/*
	 * Reading whole words is safe: a str ends with a NUL, and objects' sizes are whole words.
	 */
	for (u64 i = 0; i < PYTHON_KEY_WORDS && i * sizeof word < shape.length; i++) {
		if (mem_read(mem, &word, sizeof word, shape.data + i * sizeof word) < 0)
			break;
		hash = code_mix(hash, code_first_bytes(word, shape.length - i * sizeof word));
	}
	return hash;
}

/* The addresses of a code object's parts. */
struct python_code {
	u64 name, qualified_name, file, table;
	u32 first_line;
};

static inline int python_code_read(struct mem *mem, const struct python_layout *layout,
				   u64 code, struct python_code *out_code)
{
	const struct python_offsets *offsets = &layout->offsets;
	s32 first_line;

	*out_code = (struct python_code){ 0 };
	if (offsets->code_qualname != PYTHON_NO_FIELD &&
	    python_read(mem, &out_code->qualified_name, code, offsets->code_qualname) < 0)
		return -1;
	if (python_read(mem, &out_code->name, code, offsets->code_name) < 0 ||
	    python_read(mem, &out_code->file, code, offsets->code_filename) < 0 ||
	    python_read(mem, &out_code->table, code, offsets->code_table) < 0 ||
	    python_read_int(mem, &first_line, code, offsets->code_first_line) < 0)
		return -1;
	out_code->first_line = first_line < 0 ? 0 : (u32)first_line;
	return 0;
}

/* The key of the code object at this address; parts: from python_code_read(). */
static inline u64 python_code_key(struct mem *mem, const struct python_layout *layout, u64 code,
				  const struct python_code *parts)
{
	u64 hash = code_mix(code, parts->table);
	u64 table_length;

	hash = code_mix(hash, parts->first_line);
	if (python_read(mem, &table_length, parts->table, layout->offsets.bytes_length) >= 0)
		hash = code_mix(hash, table_length);
	hash = python_mix_text(mem, layout, hash, parts->file);
	hash = python_mix_text(mem, layout, hash, parts->name);
	if (parts->qualified_name != 0 && parts->qualified_name != parts->name)
		hash = python_mix_text(mem, layout, hash, parts->qualified_name);
	return code_key_of_hash(hash);
}
