/* arch - includes the header for this machine: arch_x86_64.h or arch_aarch64.h. */
#pragma once

#if defined(__x86_64__)
#include "agent/core/arch_x86_64.h"
#elif defined(__aarch64__)
#include "agent/core/arch_aarch64.h"
#else
#error "the agent has no file for this machine"
#endif

/* The smallest page size of any machine. */
#define ARCH_LEAST_PAGE 4096ULL

/*
 * Whether the instruction before pc is a system call.  The page of pc must be readable; false where
 * that instruction would begin on the page before it.
 */
static inline bool arch_is_behind_call(u64 pc)
{
	return (pc & (ARCH_LEAST_PAGE - 1)) >= ARCH_CALL_BYTES &&
	       __builtin_memcmp((const void *)(pc - ARCH_CALL_BYTES), ARCH_CALL,
				ARCH_CALL_BYTES) == 0;
}
