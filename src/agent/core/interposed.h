/*
 * interposed - every function of the target that core/ interposes, and why.
 */
#pragma once
#include "agent/core/hooks.h"

#define CORE_HOOKS(X)                                                                          \
	/* threads.c */                                                                        \
	X(dlclose, PASSES_ON, "addresses lose their meaning: rules kept for them are dropped") \
	X(pthread_create, PASSES_ON,                                                           \
	  "each thread has a signal stack of ours, and a timer where those trigger")           \
	X(thrd_create, PASSES_ON, "the same: within libc it does not pass pthread_create()")   \
	/* namespaces.c */                                                                     \
	X(dlmopen, PASSES_ON, "what it loads calls a second libc, which we do not interpose")  \
	/* raw_forks.c */                                                                      \
	X(_Fork, PASSES_ON, "its child does not count in its parent's trace")                  \
	X(clone, PASSES_ON, "the same")                                                        \
	/* seccomp.c */                                                                        \
	X(prctl, PASSES_ON, "a filter that may forbid our system calls is noticed")            \
	X(syscall, PASSES_ON, "the same; and signals as by libc's own functions")

enum core_hook { CORE_HOOKS(HOOK_NUMBER) };

extern const struct hooks core_hooks;
#define HOOK_NEXT(name) HOOK_NEXT_OF(core_hooks, name)
