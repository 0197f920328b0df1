/*
 * tls - the calling thread's copy of a thread-local variable, without the dynamic linker.
 */
#pragma once
#include "abi/tls_variable.h"

struct mem;

/* Its word; 0 too if the thread has no copy of it yet. */
u64 tls_read(struct mem *mem, const struct tls_variable *variable);
