/*
 * map - maps memory for tracing directly from the kernel; a page costs memory once it is used.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

/* Zeroed memory; NULL: out of memory, or mapping is forbidden. */
void *trace_map(u64 bytes);
void trace_unmap(void *place, u64 bytes);
/*
 * The program installs a seccomp filter that forbids mmap() or gettid(), which a thread's first
 * event needs: trace_map() fails from now on, and only threads that have had one are traced on.
 */
void trace_map_forbid(void);
bool trace_map_is_forbidden(void);
/*
 * Restores the protection of [begin, end) after the program's memory there was written to.  If
 * that fails it stays writable, and the recorder notes it.
 */
void trace_protect_again(u64 begin, u64 end, long protection);
