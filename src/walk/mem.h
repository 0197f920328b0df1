/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * mem - the target's memory, as the vantage that includes a walker defines it.
 */
#pragma once
#include "abi/types.h"

struct mem;
/* Copies len bytes at addr of the target into dst; 0, or negative if it cannot. */
static inline int mem_read(struct mem *mem, void *dst, u32 len, u64 addr);
