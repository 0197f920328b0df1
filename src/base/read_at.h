/* read_at - reads a part of a file completely. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads exactly len bytes at offset; false if the file has no such part, or cannot be read. */
bool read_at(int fd, void *buffer, size_t len, uint64_t offset);
