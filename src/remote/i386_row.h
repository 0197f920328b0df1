/* i386_row - finds the unwind rule of a frame of 32-bit code in .eh_frame. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "walk/cfa_row.h"

struct mem;
struct native_image;

/* DWARF register numbers of i386, which differ from x86-64's. */
enum { I386_EBX = 3, I386_ESP = 4, I386_EBP = 5, I386_REGISTERS = 8, I386_EIP = 8 };

struct i386_row {
	struct cfa_row row;
	uint8_t status;       /* enum walk_status: WALK_COMPLETE, or why there is none */
	bool is_signal_frame; /* its caller was interrupted */
};

void i386_row_find(struct mem *mem, const struct native_image *image, uint64_t lookup,
		   struct i386_row *out_row);
