/* load_bias - computes a process's load bias for an ELF file from a mapping of it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Executable segments stored; files have one, rarely two. */
#define LOAD_BIAS_SEGMENTS 8

struct load_bias {
	struct {
		uint64_t address, offset, size; /* in the file */
	} segments[LOAD_BIAS_SEGMENTS];
	size_t count;
};

/* Reads the executable segments of the file at path: none if it is not a 64-bit ELF file. */
void load_bias_read(const char *path, struct load_bias *out_bias);
/*
 * The bias, given an executable mapping of the file at start, from file_offset on. False if it
 * matches none of the file's segments.
 */
bool load_bias_of(const struct load_bias *bias, uint64_t start, uint64_t file_offset,
		  uint64_t *out_load_bias);
