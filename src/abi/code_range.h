/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * code_range - the address ranges of a function whose code the compiler split into parts.
 */
#pragma once
#include "abi/types.h"

struct code_range {
	u64 start, end; /* end: one past; both 0: none */
};

#define CODE_RANGES 4

static inline int code_ranges_have(const struct code_range ranges[CODE_RANGES], u64 address)
{
	for (u32 i = 0; i < CODE_RANGES; i++) {
		if (address >= ranges[i].start && address < ranges[i].end)
			return 1;
	}
	return 0;
}
