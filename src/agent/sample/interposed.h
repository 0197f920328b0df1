/*
 * interposed - every function of the target that sample/ interposes, and why.
 */
#pragma once
#include "agent/core/hooks.h"

#define SAMPLE_HOOKS(X)                                                               \
	/* thread_end.c */                                                            \
	X(_exit, PASSES_ON, "the process's CPU time is noted")                        \
	X(_Exit, PASSES_ON, "the same")                                               \
	/* other_files.c */                                                           \
	X(chroot, PASSES_ON, "a delayed handshake is made while the socket is found") \
	X(unshare, PASSES_ON, "the same")                                             \
	X(setns, PASSES_ON, "the same")

enum sample_hook { SAMPLE_HOOKS(HOOK_NUMBER) };

extern const struct hooks sample_hooks;
#define HOOK_NEXT(name) HOOK_NEXT_OF(sample_hooks, name)
