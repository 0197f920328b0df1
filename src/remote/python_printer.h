/* python_printer - shared by the files that print Python values: python_value.h. */
#pragma once
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/python_layout.h"
#include "base/text.h"
#include "remote/memory.h"

#define PYTHON_VERSION_OF(major, minor) ((uint32_t)(major) << 24 | (uint32_t)(minor) << 16)

/* Offsets in an object, for a head of two words; free-threaded builds have two words more. */
#define PYTHON_VALUE_SIZE  16U
#define PYTHON_VALUE_ITEMS 24U

struct python_printer {
	struct mem *mem;
	const struct python_layout *layout;
	struct text *out;
	size_t begin;  /* where the value begins in out */
	uint64_t more; /* bytes that an object's head has beyond two words */
};

static inline bool python_printer_read(const struct python_printer *p, uint64_t object,
				       uint64_t field, uint64_t *out_word)
{
	return mem_read(p->mem, out_word, sizeof *out_word, object + p->more + field) >= 0;
}

static inline void python_printer_unreadable(struct python_printer *p, uint64_t object)
{
	text_addf(p->out, "<unreadable at 0x%" PRIx64 ">", object);
}

/* Values that contain no others. */
void python_printer_int(struct python_printer *p, uint64_t object);
void python_printer_float(struct python_printer *p, uint64_t object);
void python_printer_text(struct python_printer *p, uint64_t object);
void python_printer_bytes(struct python_printer *p, uint64_t object);
