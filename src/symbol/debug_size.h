/*
 * debug_size - how large debugging information is once it is unpacked.
 *
 * libdw unpacks every compressed section of a file when it is opened, and believes the size that
 * stands in its header.  So it is asked for before.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/*
 * Whether so much may be unpacked of files of file_len bytes in all: DWARF is packed to a third or
 * a sixth, and there must be room for it (RLIMIT_AS).
 */
bool debug_size_is_bearable(uint64_t unpacked, uint64_t file_len);
