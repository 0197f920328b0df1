/*
 * blocked - blocks all signals around code that no handler may interrupt, or leave by longjmp().
 */
#pragma once
#include <signal.h>
#include <sys/syscall.h>

#include "agent/core/arch.h"

/* Returns the calling thread's mask, for blocked_end(). */
static inline u64 blocked_begin(void)
{
	const u64 all = ~0ULL;
	u64 before = 0;

	arch_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before,
		      sizeof before);
	return before;
}

static inline void blocked_end(u64 before)
{
	arch_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before);
}
