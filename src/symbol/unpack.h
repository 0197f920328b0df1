/*
 * unpack - unpacks .gnu_debugdata: a second ELF file, compressed with xz, inside the first.
 *
 * Fedora and its derivatives put function symbols there that .dynsym lacks.
 */
#pragma once
#include <stddef.h>

struct error;

/* On success *out_data is malloc'ed and the caller's. */
int unpack_xz(const void *packed, size_t packed_len, void **out_data, size_t *out_len,
	      struct error *err);
