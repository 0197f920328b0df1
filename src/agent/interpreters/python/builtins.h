/*
 * builtins - finds the code that belongs to a C function which Python calls.
 *
 * That is its own code, by the FDE that begins at its address, and that of functions to which it
 * jumps at its end, since then it has no native frame of its own: `sin` of the math module is
 * "load the address of libm's sin, jump to math_1".  Found once and kept.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct mem;
struct native_scratch;

/* The index of the first of these addresses in the function's code; count if none is. */
u32 builtins_find(struct mem *mem, struct native_scratch *scratch, u64 function,
		  const u64 *addresses, u32 count);
/* Images may have been unloaded: forgets what was found. */
void builtins_flush(void);
