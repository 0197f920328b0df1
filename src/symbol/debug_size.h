/*
 * debug_size - decides whether unpacking debugging information is safe.
 *
 * When libdw opens a file, it unpacks every compressed section, and trusts the size in its
 * header. So this is checked before.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/*
 * Whether so many bytes may be unpacked from files of file_len bytes in total: DWARF is
 * compressed to a third or a sixth, and the address space must have room for it (RLIMIT_AS).
 */
bool debug_size_is_bearable(uint64_t unpacked, uint64_t file_len);
