/* arch - picks the file for this machine. */
#pragma once

#if defined(__x86_64__)
#include "agent/core/arch_x86_64.h"
#elif defined(__aarch64__)
#include "agent/core/arch_aarch64.h"
#else
#error "the agent has no file for this machine"
#endif

/* Of any page size there is. */
#define ARCH_LEAST_PAGE 4096ULL

/*
 * Whether the instruction before pc is a system call's.  The page of pc has to be readable; one
 * that begins there does not say what is before it.
 */
static inline bool arch_is_behind_call(u64 pc)
{
	return (pc & (ARCH_LEAST_PAGE - 1)) >= ARCH_CALL_BYTES &&
	       __builtin_memcmp((const void *)(pc - ARCH_CALL_BYTES), ARCH_CALL,
				ARCH_CALL_BYTES) == 0;
}
