/*
 * kernel_action - what the kernel has for a signal, asked without libc.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>

#include "vantage/agent/arch.h"

/* As rt_sigaction(2) has it, on x86-64 and aarch64 alike. */
struct kernel_action {
	u64 handler;
	u64 flags;
	u64 restorer;
	u64 mask;
};

/* SA_RESTORER, where it has a meaning (asm/signal.h; libc does not tell). */
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

/* The action of a signal; false if it has no handler. */
static inline bool kernel_action_is_handler(int signal, struct kernel_action *out_action)
{
	if (!kernel_action_get(signal, out_action))
		return false;
	return out_action->handler != (u64)SIG_DFL && out_action->handler != (u64)SIG_IGN;
}
