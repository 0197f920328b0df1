/*
 * tls - reads the calling thread's copy of a thread-local variable, without the dynamic linker.
 */
#pragma once
#include "abi/tls_variable.h"

struct mem;

/* The variable's value; 0 also if the thread has no copy yet. */
u64 tls_read(struct mem *mem, const struct tls_variable *variable);
