/* code_bytes - a piece of a file's machine code, to search for references to addresses. */
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

/* False if the range is invalid or unreadable. Call code_bytes_done() in either case. */
bool code_bytes_read(const struct elf_file *elf, struct code_range range,
		     struct code_bytes *out_code);
void code_bytes_done(struct code_bytes *code);

/*
 * Finds the next reference of this kind from offset *at on, and advances *at past its
 * beginning; false if there is none.
 */
bool code_bytes_next(const struct code_bytes *code, enum code_reference_kind kind, size_t *at,
		     uint64_t *out_target);
