/*
 * map - memory for what a thread's calls are counted by, of the kernel's: a page costs
 * something when it is used.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

/* Zeros; NULL: there is none. */
void *trace_map(u64 bytes);
void trace_unmap(void *place, u64 bytes);
/* A filter of the program's forbids what they take: from now on there is none. */
void trace_map_forbid(void);
bool trace_map_is_forbidden(void);
/*
 * Protects [begin, end) of the program's as it was before it was written to.  Where that fails it
 * stays writable, and the recorder notes it.
 */
void trace_protect_again(u64 begin, u64 end, long protection);
