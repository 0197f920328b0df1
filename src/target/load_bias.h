/*
 * load_bias - what a process adds to an ELF file's addresses, by where it has the file mapped.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Executable segments that are remembered; files have one, rarely two. */
#define LOAD_BIAS_SEGMENTS 8

struct load_bias {
	struct {
		uint64_t address, offset, size; /* in the file */
	} segments[LOAD_BIAS_SEGMENTS];
	size_t count;
};

/* The executable segments of the file at path: none if it is no ELF file of 64 bits. */
void load_bias_read(const char *path, struct load_bias *out_bias);
/*
 * The bias by a mapping of the file: executable, at start, from file_offset on.  False if no
 * segment of the file is mapped so.
 */
bool load_bias_of(const struct load_bias *bias, uint64_t start, uint64_t file_offset,
		  uint64_t *out_load_bias);
