/*
 * code_bytes - a piece of a file's code, gone through for what it refers to.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/code_range.h"
#include "machine_code.h"

struct elf_file;

struct code_bytes {
	uint64_t start;
	size_t len;
	uint8_t *bytes;
	uint16_t machine;
};

/* False when the range makes no sense or cannot be read.  code_bytes_done(), whatever it is. */
bool code_bytes_read(const struct elf_file *elf, struct code_range range,
		     struct code_bytes *out_code);
void code_bytes_done(struct code_bytes *code);

/*
 * The next reference of the kind, of those from byte *at on, which is moved behind where it
 * begins; false if there is none.
 */
bool code_bytes_next(const struct code_bytes *code, enum code_reference_kind kind, size_t *at,
		     uint64_t *out_target);
