/*
 * kernel_action - reads signals' actions, and which are pending, from the kernel without libc.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>

#include "agent/core/arch.h"

/* As rt_sigaction(2) has it, on x86-64 and aarch64 alike. */
struct kernel_action {
	u64 handler;
	u64 flags;
	u64 restorer;
	u64 mask;
};

/* SA_RESTORER, where it has a meaning (asm/signal.h; libc does not show it). */
#ifdef __x86_64__
#define KERNEL_RESTORER_FLAG 0x04000000U
#else
#define KERNEL_RESTORER_FLAG 0U
#endif

static inline bool kernel_action_get(int signal, struct kernel_action *out_action)
{
	return arch_syscall4(SYS_rt_sigaction, signal, 0, (long)out_action,
			     sizeof out_action->mask) == 0;
}

/* The lowest of these signals with a handler, and its action; 0: none.  Signal n: bit n - 1. */
static inline int kernel_action_first_handler(u64 signals, struct kernel_action *out_action)
{
	for (int signal = 1; signals != 0; signal++, signals >>= 1) {
		if ((signals & 1) && kernel_action_get(signal, out_action) &&
		    out_action->handler != (u64)SIG_DFL && out_action->handler != (u64)SIG_IGN)
			return signal;
	}
	return 0;
}

/* The pending signals that are not in `blocked`; 0 also if they cannot be read. */
static inline u64 kernel_signals_waiting(u64 blocked)
{
	u64 pending = 0;

	if (arch_syscall4(SYS_rt_sigpending, (long)&pending, sizeof pending, 0, 0) != 0)
		return 0;
	return pending & ~blocked;
}
