/*
 * python_memory_image - a process's memory made by hand, for walks along Python frames.
 *
 * Offsets are small and like no version's: a walker that knows better than its layout fails.
 */
#pragma once
#include "memory_by_hand.h"

#define FRAME(n)   (MEMORY + 0x1000 + (n)*0x100ULL)
#define CODE(n)    (MEMORY + 0x8000 + (n)*0x200ULL)
#define TEXT(n)    (MEMORY + 0x10000 + (n)*0x1000ULL)
#define STATE      (MEMORY + 0x20000)
#define BASE_FRAME (MEMORY + 0x20100)
#define STACK      (MEMORY + 0x30000)
#define CODE_TYPE  0x7007ULL
#define THREAD     0x7fffULL
#define INTERP     0x9999ULL

#include "walk/python.h"
#include "walk/python_code.h"

/* PyASCIIObject.state: interned, kind, compact, ascii. */
#define STATE_OF(kind, is_ascii, shift) (1U | ((kind) | 8U | (is_ascii) << 4) << (shift))

static inline void put_text(struct mem *mem, uint64_t text, uint32_t state, uint64_t length,
			    const void *data, size_t bytes)
{
	const unsigned at = state >> 2 & 0x10 ? 40 : 56;

	put_word(mem, text + 16, length);
	put_word(mem, text + 24, PYTHON_NO_HASH);
	put_int(mem, text + 32, (int32_t)state);
	put(mem, text + at, data, bytes);
}

static inline void put_ascii(struct mem *mem, uint64_t text, const char *data)
{
	put_text(mem, text, STATE_OF(1, 1, 2), strlen(data), data, strlen(data) + 1);
}

static inline struct python_layout layout_of(enum python_chain chain)
{
	struct python_layout layout = { .chain = (u8)chain,
					.has_unicode = 1,
					.code_type = CODE_TYPE };

	memset(&layout.offsets, 0xff, sizeof layout.offsets);
	layout.offsets.state_interp = 8;
	layout.offsets.state_frame = 16;
	layout.offsets.state_cframe = 24;
	layout.offsets.state_thread_id = 32;
	layout.offsets.cframe_frame = 8;
	layout.offsets.cframe_previous = 16;
	layout.offsets.frame_previous = 8;
	layout.offsets.frame_code = 24;
	layout.offsets.frame_position = 32;
	layout.offsets.frame_owner = 41;
	layout.offsets.frame_is_entry = 43;
	layout.offsets.code_first_line = 20;
	layout.offsets.code_filename = 24;
	layout.offsets.code_name = 32;
	layout.offsets.code_qualname = 40;
	layout.offsets.code_table = 48;
	layout.offsets.code_first_traceable = 60;
	layout.offsets.code_instructions = 64;
	layout.offsets.object_type = 8;
	layout.offsets.text_length = 16;
	layout.offsets.text_state = 32;
	layout.offsets.text_ascii = 40;
	layout.offsets.text_compact = 56;
	layout.offsets.bytes_length = 16;
	layout.offsets.bytes_data = 32;
	return layout;
}

/* A frame that executes an instruction of code n; codes are traceable from 2 on. */
static inline void put_frame(struct mem *mem, uint64_t frame, unsigned code, int instruction,
			     uint8_t owner, uint64_t previous)
{
	put_word(mem, CODE(code) + 8, CODE_TYPE);
	put_int(mem, CODE(code) + 60, 2);
	put_word(mem, frame + 8, previous);
	put_word(mem, frame + 24, CODE(code));
	put_word(mem, frame + 32, CODE(code) + 64 + 2 * (uint64_t)instruction);
	put_byte(mem, frame + 41, owner);
}

/* A frame of the interpreter's own. */
static inline void put_shim(struct mem *mem, uint64_t frame, uint64_t previous)
{
	put_word(mem, frame + 8, previous);
	put_word(mem, frame + 24, NOWHERE | 1);
	put_byte(mem, frame + 41, 3);
}

static inline void put_object(struct mem *mem, uint64_t frame, unsigned code, int position,
			      uint64_t previous)
{
	put_word(mem, CODE(code) + 8, CODE_TYPE);
	put_word(mem, frame + 8, previous);
	put_word(mem, frame + 24, CODE(code));
	put_int(mem, frame + 32, position);
}
